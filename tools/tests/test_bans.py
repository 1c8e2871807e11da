"""What `clippy.toml` forbids in the pure crates, clippy refuses."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BANNED = Path(__file__).parent / "banned"
PURE = ("core", "model", "sim")
TABLES = ("disallowed-types", "disallowed-methods", "disallowed-macros")


def clippy(folder: Path, configured: Path, target: Path) -> list[dict[str, Any]]:
    """What clippy says of a crate under the clippy.toml of a folder."""
    environment = os.environ | {
        "CLIPPY_CONF_DIR": str(configured),
        "CARGO_TARGET_DIR": str(target),
    }
    output = subprocess.run(
        ["cargo", "clippy", "--quiet", "--offline", "--message-format=json"],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    return [each["message"] for each in messages if each["reason"] == "compiler-message"]


def bans(crate: str) -> list[dict[str, Any]]:
    """The rows of a crate's clippy.toml."""
    config = tomllib.loads((ROOT / "crates" / crate / "clippy.toml").read_text(encoding="utf-8"))
    return [row for table in TABLES for row in config[table]]


@pytest.fixture(scope="module")
def warnings(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What clippy says of the crate that breaks every rule."""
    return clippy(BANNED, ROOT / "crates" / "core", tmp_path_factory.mktemp("target"))


def test_every_marked_line_and_no_other_is_refused(
    warnings: list[dict[str, Any]],
) -> None:
    source = (BANNED / "src" / "lib.rs").read_text(encoding="utf-8").splitlines()
    marked = {n for n, line in enumerate(source, 1) if line.endswith("// banned")}
    refused = {
        span["line_start"]
        for warning in warnings
        if (warning["code"] or {"code": ""})["code"].startswith("clippy::disallowed_")
        for span in warning["spans"]
        if span["file_name"] == "src/lib.rs"
    }
    assert refused == marked


def test_every_ban_is_proved_by_a_line(warnings: list[dict[str, Any]]) -> None:
    # Paths of `rand` cannot be: the crate that proves them would have to depend on it.
    said = " ".join(warning["message"] for warning in warnings)
    seen = set(re.findall(r"`([\w:]+)`", said))
    paths = {row["path"] for row in bans("core") if not row["path"].startswith("rand::")}
    assert paths - seen == set()


@pytest.mark.parametrize("crate", PURE)
def test_every_pure_crate_has_the_same_bans_each_with_its_reason(crate: str) -> None:
    assert bans(crate) == bans("core")
    assert [row["path"] for row in bans(crate) if not row.get("reason")] == []


@pytest.mark.parametrize("configured", [".", "crates/core"])
def test_a_rust_function_over_60_lines_is_refused(tmp_path: Path, configured: str) -> None:
    # A crate without a clippy.toml of its own is read with that of the root.
    (tmp_path / "src").mkdir()
    shutil.copy(BANNED / "Cargo.toml", tmp_path)
    functions = [
        f"pub fn lines{lines}() {{\n" + "    println!();\n" * lines + "}\n" for lines in (60, 61)
    ]
    code = "#![warn(clippy::too_many_lines)]\n" + "".join(functions)
    (tmp_path / "src/lib.rs").write_text(code, encoding="utf-8")
    long = [
        warning["spans"][0]["line_start"]
        for warning in clippy(tmp_path, ROOT / configured, tmp_path / "target")
        if (warning["code"] or {}).get("code") == "clippy::too_many_lines"
    ]
    assert long == [64]


def test_every_crate_warns_of_long_functions() -> None:
    shared = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["lints"]
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        lints = tomllib.loads(manifest.read_text(encoding="utf-8"))["lints"]
        assert (shared if lints.get("workspace") else lints)["clippy"]["too_many_lines"] == "warn"
