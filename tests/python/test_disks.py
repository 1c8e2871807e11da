"""Disks that are full or cannot be written: said with a remedy, and nothing half written stays.

Each command runs on a small file system of its own, in a mount namespace that
ends with it; nothing of this machine is mounted over.
"""

import shlex
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


@pytest.fixture
def on_a_disk(done, overload_file, tmp_path):
    """Run a command on a disk of its own; tell what it said, and the sizes of what it left."""

    def run(name, size, before):
        arguments = [str(done) if each == "DONE" else each for each in COMMANDS[name]]
        command = shlex.join([sys.executable, "-m", "tidegate", *arguments])
        (tmp_path / "disk").mkdir()
        script = f"""
        mount -t tmpfs -o size={size} none disk && cp small.toml disk && cd disk || exit 99
        {before}
        {command} >&2; code=$?
        find . -mindepth 1 -printf '%P %y %s\\n'; exit $code
        """
        ended = subprocess.run(
            [*APART, "sh", "-c", script],
            cwd=overload_file.parent,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in ended.stderr
        found = [line.rsplit(" ", 2) for line in ended.stdout.splitlines()]
        left = {path: int(size) if kind == "f" else None for path, kind, size in found}
        del left["small.toml"]
        return ended, left

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_system_that_is_read_only_is_said(on_a_disk, name):
    ended, left = on_a_disk(name, "1m", "mount -o remount,ro none .")
    assert ended.returncode == 1
    assert "Read-only file system.\nChoose a location that can be written." in ended.stderr
    assert left == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_said_and_what_stays_is_whole(on_a_disk, name):
    """12 kB are free, for the small table of `flows` nothing: enough to begin, and too little."""
    filler = 1020 if name == "flows" else 1008
    ended, left = on_a_disk(name, "1m", f"head -c {filler}k /dev/zero > filler")
    assert ended.returncode == 1
    assert "No space left on device.\nFree some space" in ended.stderr
    del left["filler"]
    # scenarios that were copied before the disk was full stay, each of them whole
    whole = {f"mine/{path.relative_to(READY)}": path.stat().st_size for path in READY.rglob("*")}
    kept = {path: size for path, size in left.items() if size is not None}
    assert kept == {path: whole[path] for path in kept}
    assert name == "examples" or kept == {}
