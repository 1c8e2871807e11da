"""Checks of the repository that no general linter makes.

`python -m tools.lint` runs them all from the root of the checkout and prints
one line per problem, as `path:line: what is wrong`. A check is a module with
`problems(root) -> Iterator[str]`.
"""
