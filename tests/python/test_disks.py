"""Disks that are full or cannot be written: said with a remedy, and nothing half written stays.

Each command runs on a small file system of its own, in a mount namespace that
ends with the commands; nothing of this machine is mounted over.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tidegate as laboratory

APART = ["unshare", "--user", "--map-root-user", "--mount"]


def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*APART, "mount", "-t", "tmpfs", "none", "/mnt"], check=False)
    return tried.returncode == 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not _can_mount(), reason="no mount namespaces here: unshare --user --mount is refused"
    ),
]

READY = Path(__file__).parents[2] / "scenarios"
CAPTURE = READY / "captures" / "narrow-link.pcap"
SHORT = ["--set", "duration=6s", "--set", "warmup=1s"]
GATES = ["--gate", "none,fixed-rate:5", "--seeds", "1"]
COMMANDS = {
    "examples": ["examples", "mine"],
    "run": ["run", "small.toml", *SHORT],
    "capture": ["run", "small.toml", *SHORT, "--pcap", "bottleneck"],
    "compare": ["compare", "small.toml", *SHORT, *GATES],
    "sweep": ["sweep", "small.toml", "--vary", "duration=6s,7s", "--seeds", "1"],
    "paper": ["paper", "lgc", "--only", "fig5"],
    "flows": ["flows", str(CAPTURE), "--csv", "f.csv"],
    "report": ["report", "DONE", "--out", "page.html"],
    "plot": ["plot", "DONE", "--out", "pictures"],
}


@pytest.fixture(scope="module")
def done(overload, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("done") / "c"
    gates, asked = ["none", "fixed-rate:5"], {"duration": "6s", "warmup": "1s"}
    laboratory.compare(overload, gates=gates, seeds=1, settings=asked, out=folder, plots=False)
    return folder


ON_DISKS = """
import json, subprocess, sys
from pathlib import Path
from conftest import called

commands, before, text = json.loads(sys.argv[1])
told = {}
for name, arguments in commands.items():
    disk = Path(name).absolute()
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=True)
    (disk / "small.toml").write_text(text)
    subprocess.run(["sh", "-c", before[name]], cwd=disk, check=True)
    done = called(arguments, disk)
    left = {str(path.relative_to(disk)): path.stat().st_size for path in disk.rglob("*")}
    folders = [str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_dir()]
    told[name] = done.returncode, done.stderr, left, folders
print(json.dumps(told))
"""
"""Calls each command on a disk of its own; prints how it ended, what it said, and what it left."""


@pytest.fixture(scope="module")
def on_disks(done, overload, tmp_path_factory):
    """Run all commands on disks that a command of the shell prepares; one process runs them."""

    def run(before):
        commands = {
            name: [str(done) if each == "DONE" else each for each in arguments]
            for name, arguments in COMMANDS.items()
        }
        given = json.dumps([commands, {name: before(name) for name in commands}, overload])
        ended = subprocess.run(
            [*APART, sys.executable, "-c", ON_DISKS, given],
            cwd=tmp_path_factory.mktemp("disks"),
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        )
        return json.loads(ended.stdout)

    return run


@pytest.fixture(scope="module")
def read_only(on_disks):
    return on_disks(lambda _: "mount -o remount,ro none .")


@pytest.fixture(scope="module")
def full(on_disks):
    """12 kB are free, for the small table of `flows` nothing: enough to begin, and too little."""
    return on_disks(lambda name: f"head -c {1020 if name == 'flows' else 1008}k /dev/zero > filler")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_system_that_is_read_only_is_said(read_only, name):
    code, said, left, _ = read_only[name]
    assert code == 1
    assert "Read-only file system.\nChoose a location that can be written." in said
    assert "Traceback" not in said
    assert list(left) == ["small.toml"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_said_and_what_stays_is_whole(full, name):
    code, said, left, folders = full[name]
    assert code == 1
    assert "No space left on device.\nFree some space" in said
    assert "Traceback" not in said
    # scenarios that were copied before the disk was full stay, each of them whole
    whole = {f"mine/{path.relative_to(READY)}": path.stat().st_size for path in READY.rglob("*")}
    kept = left.keys() - {"small.toml", "filler", *folders}
    assert {path: left[path] for path in kept} == {path: whole[path] for path in kept}
    assert name == "examples" or not kept
