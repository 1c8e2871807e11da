"""See that the crates for others can be published: core, model and sim.

    python -m tools.crates

Their manifests say what a registry asks for; the packages can be made; what is in a package
compiles without the checkout; and their pages (`cargo doc`) have no dead link.

Cargo would compile each package, and all that it depends on, in a profile of its own: two minutes
of processor time. Here the packages lie side by side as one workspace with the profile of the
checkout, so that all but the three is there already after `make lint`. Before a release
`cargo publish --workspace --dry-run` does it in cargo's way.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

ROOT = Path(__file__).parents[1]
PUBLISHED = ("tidegate-core", "tidegate-model", "tidegate-sim")
"""In the order in which they are published: each depends on those before it."""
ASKED = ("description", "license", "readme", "keywords", "categories", "rust_version")
FILES = ("Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs")
"""What each package has."""

UNREACHABLE = re.compile(
    r"Could not (?:connect|resolve)|attempting to make an HTTP request|timed out"
)
"""What cargo says where there is no network."""


class CargoError(Exception):
    """What cargo says of a command that failed."""


def cargo(*arguments: str, where: Path = ROOT, **settings: str) -> str:
    """Run cargo and return what it prints."""
    done = subprocess.run(
        ["cargo", *arguments],
        cwd=where,
        env=os.environ | settings,
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise CargoError(f"cargo {' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def manifest_problems(workspace: Mapping[str, Any]) -> Iterator[str]:
    """Say what is wrong with the manifests, by what `cargo metadata` tells."""
    packages = {each["name"]: each for each in workspace["packages"]}
    for name, package in packages.items():
        closed = package["publish"] == []
        if name not in PUBLISHED and not closed:
            yield f"{name}: publish = false is missing: it is not in PUBLISHED of tools/crates.py"
    for place, name in enumerate(PUBLISHED):
        package = packages[name]
        yield from (f"{name}: its manifest has no {key}" for key in ASKED if not package[key])
        for each in package["dependencies"]:
            if each.get("path") is None or each["kind"] == "dev":
                continue
            if each["name"] not in PUBLISHED[:place]:
                yield f"{name}: it depends on {each['name']}, which is not published before it"
            elif each["req"] != f"^{package['version']}":
                yield f"{name}: it takes {each['name']} {each['req']}, not {package['version']}"


def lay_out(packages: Path, folder: Path) -> Iterator[str]:
    """Unpack the packages as a workspace in a folder; say what they lack."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    root = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = root["workspace"]["package"]["version"]
    places = {name: f"{name}-{version}" for name in PUBLISHED}
    for name, place in places.items():
        with tarfile.open(packages / f"{place}.crate") as package:
            package.extractall(folder, filter="data")
        # all files of a package are of one day: cargo would take a changed one for compiled
        for path in (folder / place).rglob("*"):
            path.touch()
        lost = [file for file in FILES if not (folder / place / file).is_file()]
        yield from (f"{name}: its package has no {file}" for file in lost)
    document = {
        "workspace": {"resolver": root["workspace"]["resolver"], "members": [*places.values()]},
        "patch": {"crates-io": {name: {"path": place} for name, place in places.items()}},
        "profile": {"dev": root["profile"]["dev"]},
    }
    (folder / "Cargo.toml").write_text(tomli_w.dumps(document), encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", folder)


def dry_run(*options: str) -> bool:
    """Let cargo do all but publish; False if it cannot ask the registry."""
    try:
        cargo("publish", "--workspace", "--dry-run", *options)
    except CargoError as error:
        if not UNREACHABLE.search(str(error)):
            raise
        return False
    return True


def problems() -> Iterator[str]:
    """Do all of it; say what is wrong."""
    workspace = json.loads(cargo("metadata", "--locked", "--no-deps", "--format-version=1"))
    yield from manifest_problems(workspace)
    target = Path(workspace["target_directory"])
    chosen = [f"--package={name}" for name in PUBLISHED]
    quick = ("--no-verify", "--locked", "--allow-dirty")
    if not dry_run(*quick):
        print("left out: cargo publish --dry-run, as the registry cannot be reached")
    cargo("package", *chosen, *quick)
    folder = ROOT / "build" / "crates"
    yield from lay_out(target / "package", folder)
    cargo("check", "--quiet", where=folder, CARGO_TARGET_DIR=str(target))
    # a link to what is private is shown as plain text, and leads on in the checkout
    flags = "-D warnings -A rustdoc::private_intra_doc_links"
    cargo("doc", "--locked", "--no-deps", *chosen, RUSTDOCFLAGS=flags)


def main() -> int:
    """Print what is wrong; the exit status is 1 if anything is."""
    try:
        found = list(problems())
    except CargoError as error:
        found = [str(error)]
    print(*found, f"tools.crates: {len(PUBLISHED)} crates, {len(found)} problems", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
