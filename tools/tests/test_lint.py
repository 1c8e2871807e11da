"""Each check of tools/lint sees what it is for, and lets the rest pass."""

import subprocess
from pathlib import Path

import pytest
from tools.lint import edges, length, links, places, rooms


def metadata(**uses: list[str]) -> dict[str, object]:
    """What `cargo metadata --no-deps` says of crates with these dependencies."""
    return {
        "packages": [
            {
                "manifest_path": f"/x/crates/{crate}/Cargo.toml",
                "dependencies": [
                    {"name": "serde", "path": None},
                    *({"name": f"tidegate-{name}", "path": f"/x/crates/{name}"} for name in names),
                ],
            }
            for crate, names in uses.items()
        ]
    }


def checkout(root: Path, name: str, text: str) -> Path:
    """A checkout with one file."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return root


def test_downward_dependencies_pass() -> None:
    # The order of the layers is that of ARCHITECTURE.md.
    found = edges.forbidden(metadata(core=[], model=["core"], sim=["model"], py=["sim", "model"]))
    assert list(found) == []


@pytest.mark.parametrize(
    ("crate", "used"),
    [("core", "model"), ("model", "sim"), ("core", "sim"), ("sim", "py")],
)
def test_an_upward_dependency_is_a_problem(crate: str, used: str) -> None:
    [problem] = edges.forbidden(metadata(**{crate: [used]}))
    assert problem.startswith(f"crates/{crate}/Cargo.toml:1: `{crate}` must not use `{used}`")


def test_a_crate_without_a_place_in_the_layers_is_a_problem() -> None:
    [problem] = edges.forbidden(metadata(extra=[]))
    assert "no row" in problem


def package(root: Path, **files: str) -> Path:
    """A checkout with a Python package of these modules, `a__b` for `a/b.py`."""
    for name, text in files.items():
        path = root / "python" / "tidegate" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_imports_of_lower_rooms_pass(tmp_path: Path) -> None:
    root = package(
        tmp_path,
        grid__plan="from tidegate import _native\nfrom tidegate.results import store\n",
        results__store="import tidegate.errors\nfrom .names import slug\n",
        results__names="",
        errors="",
    )
    assert list(rooms.problems(root)) == []


def test_an_import_that_runs_back_up_is_a_problem_even_inside_a_function(tmp_path: Path) -> None:
    text = "def table():\n    from tidegate.show.tables import of_run\n"
    [problem] = rooms.problems(package(tmp_path, results__result=text, show__tables=""))
    assert problem.startswith("python/tidegate/results/result.py:2: must not import")
    [problem] = rooms.problems(package(tmp_path, results__result="", cli__run="import tidegate\n"))
    assert problem.startswith("python/tidegate/cli/run.py:1: must not import `tidegate`")


def test_circles_are_problems_even_for_the_type_checker_alone(tmp_path: Path) -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import c\n"
    root = package(
        tmp_path,
        grid__a="from tidegate.grid.b import x\n",
        grid__b=for_types,
        grid__c="from tidegate.grid import a\n",
        grid__d="from tidegate.grid import a\n",  # leads into the circle, and is not in it
    )
    [problem] = rooms.problems(root)
    assert problem.startswith("python/tidegate/grid/a.py:1: `tidegate.grid.a` is in a circle")
    assert problem.endswith("with tidegate.grid.b, tidegate.grid.c")


def test_a_module_without_a_room_is_a_problem(tmp_path: Path) -> None:
    [problem] = rooms.problems(package(tmp_path, attic=""))
    assert "has no room" in problem


def test_a_file_over_600_lines_is_a_problem(tmp_path: Path) -> None:
    root = checkout(tmp_path, "a.py", "x = 1\n" * 601)
    assert list(length.problems(root)) == ["a.py:1: 601 lines, more than 600"]
    (root / "a.py").write_text("x = 1\n" * 600, encoding="utf-8")
    assert list(length.problems(root)) == []


def test_a_python_function_over_60_lines_is_a_problem(tmp_path: Path) -> None:
    root = checkout(tmp_path, "a.py", "x = 1\ndef f():\n" + "    x = 1\n" * 60)
    assert list(length.problems(root)) == ["a.py:2: `f` has 61 lines, more than 60"]
    (root / "a.py").write_text("def f():\n" + "    x = 1\n" * 59, encoding="utf-8")
    assert list(length.problems(root)) == []


def test_a_rust_function_over_60_lines_is_a_problem(tmp_path: Path) -> None:
    root = checkout(tmp_path, "a.rs", "\npub fn f() {\n" + "    g();\n" * 59 + "}\n")
    assert list(length.problems(root)) == ["a.rs:2: `f` has 61 lines, more than 60"]
    (root / "a.rs").write_text("fn f() {\n" + "    g();\n" * 58 + "}\n", encoding="utf-8")
    assert list(length.problems(root)) == []


def test_rust_functions_are_read_past_literals_arrays_and_lifetimes() -> None:
    text = """
trait T { fn declared(&self, row: [u8; 4]) -> [u8; 4]; }
fn tricky<'a>(s: &'a str) -> [char; 2] {
    // } not the end
    let _ = (s, "} nor \\" here", r#"} or "here"#, b'}', '\\u{7d}');
    ['{', '}']
}
fn after() {}
"""
    assert list(length.rust_functions(text)) == [(3, "tricky", 5), (8, "after", 1)]


@pytest.mark.parametrize(
    "line",
    [
        "see @root@notes",
        "cd @home@me@x",
        "in ..@shared@specs",
        "(@work@main)",
        "`@tmp@wt@a`",
    ],
)
def test_a_place_of_one_machine_is_a_problem(tmp_path: Path, line: str) -> None:
    # Written with another sign, so that the check does not find them in this file.
    root = checkout(tmp_path, "a.md", "first\n" + line.replace("@", "/"))
    [problem] = places.problems(root)
    assert problem.startswith("a.md:2: ")


@pytest.mark.parametrize("line", ["~/.cargo/bin", "/usr/bin/env", "crates/core/src/work/x.rs"])
def test_a_place_that_every_machine_has_passes(tmp_path: Path, line: str) -> None:
    assert list(places.problems(checkout(tmp_path, "a.md", f"{line}\n"))) == []


def test_links_to_missing_files_and_headings_are_problems(tmp_path: Path) -> None:
    root = checkout(
        tmp_path,
        "a.md",
        "# The `one` way\n[x](b.md)\n[x](#the-one-way) [x](#other)\n"
        "```\n[x](c.md)\n```\n[x](a.md#no)\n",
    )
    assert list(links.problems(root)) == [
        "a.md:2: dead link: b.md",
        "a.md:3: dead link: #other",
        "a.md:7: dead link: a.md#no",
    ]
