"""Each check of tools/lint sees what it is for, and lets the rest pass."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.lint import rust, text

ROOT = Path(__file__).parents[2]


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


def checkout(root: Path, name: str, content: str) -> Path:
    """A checkout with one file."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return root


def test_downward_dependencies_pass() -> None:
    # The order of the layers is that of ARCHITECTURE.md.
    found = rust.forbidden(metadata(core=[], model=["core"], sim=["model"], py=["sim", "model"]))
    assert list(found) == []


@pytest.mark.parametrize(
    ("crate", "used"),
    [("core", "model"), ("model", "sim"), ("core", "sim"), ("sim", "py")],
)
def test_an_upward_dependency_is_a_problem(crate: str, used: str) -> None:
    [problem] = rust.forbidden(metadata(**{crate: [used]}))
    assert problem.startswith(f"crates/{crate}/Cargo.toml:1: `{crate}` must not use `{used}`")


def test_a_crate_without_a_place_in_the_layers_is_a_problem() -> None:
    [problem] = rust.forbidden(metadata(extra=[]))
    assert "no row" in problem


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its contracts, to break."""
    root = tmp_path_factory.mktemp("package")
    for name in ("python/tidegate", "tools"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.so", "*.pyc"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def contracts(root: Path) -> str:
    """What import-linter prints of a checkout."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports as f; f(no_cache=True)"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": f"{root / 'python'}:{root}"},
        check=False,
        capture_output=True,
        text=True,
    ).stdout


TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tidegate.grid import a\n"


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        ({"grid/a.py": "import tidegate.results.metrics\nfrom tidegate import _native\n"}, None),
        ({"results/a.py": "def f():\n    from tidegate.show import hints\n"}, "A layer"),
        ({"api.py": "import tidegate.cli\n"}, "A layer"),
        ({"api.py": "import tidegate.papers\n"}, "The Python interface"),
        ({"attic.py": ""}, "A layer"),
        ({"grid/a.py": "import tidegate.grid.b\n", "grid/b.py": TYPES}, "No circle"),
    ],
)
def test_a_broken_contract_of_the_package_is_named(
    package: Path, files: dict[str, str], broken: str | None
) -> None:
    before = {name: (ROOT / "python/tidegate" / name) for name in files}
    for name, added in files.items():
        old = before[name].read_text("utf-8") if before[name].exists() else ""
        (package / "python/tidegate" / name).write_text(old + "\n" + added, encoding="utf-8")
    printed = contracts(package)
    for name, path in before.items():
        if path.exists():
            shutil.copy(path, package / "python/tidegate" / name)
        else:
            (package / "python/tidegate" / name).unlink()
    found = re.findall(r"^(.+) BROKEN", printed, re.MULTILINE)
    assert "Analyzed" in printed
    assert bool(found) == bool(broken)
    assert not broken or any(line.startswith(broken) for line in found)


@pytest.mark.parametrize("line", ["import tidegate", "    from tidegate import run, _native"])
def test_an_import_of_the_package_itself_is_a_problem(tmp_path: Path, line: str) -> None:
    path = tmp_path / "python/tidegate/grid/plan.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"from tidegate import _native\nfrom tidegate import grid\n{line}\n", "utf-8")
    [problem] = text.package_imports(tmp_path)
    assert problem.startswith("python/tidegate/grid/plan.py:3: ")


def crate(root: Path, **files: str) -> Path:
    """A checkout with one crate of these files, `a__b` for `a/b.rs`."""
    for name, code in files.items():
        path = root / "crates/x/src" / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    return root


CIRCLE = {
    "lib": "mod a; mod b; mod c; mod d;\npub use c::Far;\n",
    "a": "use crate::{b::{self, Near}, d::Far as Other};\n",
    "b": "fn f() { crate::Far::new() } // through what lib.rs re-exports\n",
    "c": "mod inner;\nuse inner::Deep;\n",
    "c__inner": "use super::super::a;\n",
    "d": "use crate::a; // leads into the circle; with a it is one of two\n",
}


def test_a_circle_of_rust_files_is_a_problem(tmp_path: Path) -> None:
    [problem] = rust.file_circles(crate(tmp_path, **CIRCLE))
    assert problem == "crates/x/src:1: files use each other in a circle: a, b, c, c::inner, d"


@pytest.mark.parametrize(
    "change",
    [
        {"c__inner": "// use super::super::a;\n"},
        {"c__inner": 'const TEXT: &str = "crate::a::X";\n'},
        {"c__inner": "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"},
        {"b": "use serde::Far;\n"},
    ],
)
def test_two_files_may_use_each_other(tmp_path: Path, change: dict[str, str]) -> None:
    assert list(rust.file_circles(crate(tmp_path, **CIRCLE | change))) == []


# What a file passes on and also uses itself is a use; what it only passes on is none (CIRCLE: lib).
@pytest.mark.parametrize(
    ("lib", "circle"),
    [
        ("pub use b::Near;\nfn f(_: Near) {}\n", True),
        ("pub(crate) use b::Near as Other;\nstruct Own { it: Other }\n", True),
        ("pub use b::Near;\nfn f(_: Nearly) {}\n", False),
        ("pub use b::Near as Other;\nfn f(_: Near) {}\n", False),
        ("pub use b::Near; // Near\n", False),
    ],
)
def test_a_re_export_counts_where_its_name_occurs(tmp_path: Path, lib: str, circle: bool) -> None:
    files = {"lib": lib, "b": "use crate::c::Far;\n", "c": "use crate::own;\n"}
    found = list(rust.file_circles(crate(tmp_path, **files)))
    assert [each.rpartition(": ")[2] for each in found] == ["b, c, lib"] * circle


def test_a_folder_of_files_that_are_named_by_their_paths_is_no_file(tmp_path: Path) -> None:
    """Each file that names them is their parent, so what they say of it leads to no one file."""
    files = {
        "lib": "mod one; mod two;\n",
        "one": '#[path = "part/inner.rs"]\nmod inner;\n',
        "two": '#[path = "part/inner.rs"]\nmod inner;\n',
        "part__inner": "use super::proto::Name;\nfn f() { super::g() }\n",
    }
    assert list(rust.file_circles(crate(tmp_path, **files))) == []


def test_no_crate_has_a_circle() -> None:
    assert list(rust.file_circles(ROOT)) == []


def test_a_file_over_600_lines_is_a_problem(tmp_path: Path) -> None:
    root = checkout(tmp_path, "a.py", "x = 1\n" * 601)
    assert list(text.long_files(root)) == ["a.py:1: 601 lines, more than 600"]
    (root / "a.py").write_text("x = 1\n" * 600, encoding="utf-8")
    assert list(text.long_files(root)) == []


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
def test_a_path_of_one_machine_is_a_problem(tmp_path: Path, line: str) -> None:
    # Written with another sign, so that the check does not find them in this file.
    root = checkout(tmp_path, "a.md", "first\n" + line.replace("@", "/"))
    [problem] = text.machine_paths(root)
    assert problem.startswith("a.md:2: ")


@pytest.mark.parametrize("line", ["~/.cargo/bin", "/usr/bin/env", "crates/core/src/work/x.rs"])
def test_a_path_that_every_machine_has_passes(tmp_path: Path, line: str) -> None:
    assert list(text.machine_paths(checkout(tmp_path, "a.md", f"{line}\n"))) == []
