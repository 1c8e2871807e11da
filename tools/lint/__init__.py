"""Checks of the repository that no general linter makes.

`python -m tools.lint` runs them from the root of the checkout and prints one
line per problem, as `path:line: what is wrong`. A check is a function that
takes the root and yields such lines. The layers of the Python package are
contracts of import-linter, in pyproject.toml.
"""
