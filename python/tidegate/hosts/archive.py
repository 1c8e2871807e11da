"""Debian's archive: releases that this machine does not run, and tools that it lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class Obstacle(Exception):
    """What keeps a kernel from running here, with the remedy."""


def need(tools: dict[str, str]) -> None:
    """Install the packages of tools that are missing, where this may."""
    missing = [package for tool, package in tools.items() if not installed(tool)]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
        # a package that would ask something takes the usual answer
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True, check=False)
        subprocess.run(words, capture_output=True, check=False, env=quiet)
        missing = [package for tool, package in tools.items() if not installed(tool)]
    if missing:
        raise Obstacle(f"not installed: sudo apt-get install -y {' '.join(missing)}")
    if not KEYRING.exists():
        raise Obstacle("the keys of Debian's archive are not installed: debian-archive-keyring")


def installed(tool: str) -> bool:
    """Whether a tool is installed; busybox, alone in a file system, may not need libraries."""
    path = shutil.which(tool)
    if path is None or tool != "busybox":
        return path is not None
    # the program that would load them is named behind the headers of the file
    return b"/ld-linux" not in Path(path).read_bytes()[:4096]


class Archive:
    """A release in Debian's archive, checked by its keys; not the one that this machine runs."""

    def __init__(self, release: str, place: Path) -> None:
        """Read its list of packages, into a folder of its own."""
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"],
            capture_output=True,
            text=True,
            check=False,
        )
        mirrors = [uri for uri in listed.stdout.split() if "security" not in uri]
        if not mirrors:
            raise Obstacle("this machine's apt knows no archive of Debian: sudo apt-get update")
        for folder in ("lists/partial", "cache/archives/partial", "etc"):
            (place / folder).mkdir(parents=True, exist_ok=True)
        self.mirror = mirrors[0]
        source = f"deb [signed-by={KEYRING}] {self.mirror} {release} main\n"
        (place / "etc/sources.list").write_text(source)
        own = {
            "Dir::State::lists": place / "lists",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": place / "cache",
            "Dir::Etc::sourcelist": place / "etc/sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "APT::Sandbox::User": "root",
        }
        self.place = place
        self.options = [word for key, value in own.items() for word in ("-o", f"{key}={value}")]
        update = ["apt-get", *self.options, "update", "-qq"]
        done = subprocess.run(update, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Obstacle(f"Debian's archive cannot be read: {done.stderr.strip()}")

    def needs(self, package: str) -> list[str]:
        """Return what a package depends on, and the words between."""
        command = ["apt-cache", *self.options, "depends", package]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.split()

    def download(self, *packages: str) -> list[Path]:
        """Download packages."""
        for left_over in self.place.glob("*.deb"):
            left_over.unlink()
        words = ["apt-get", *self.options, "download", "-qq", *packages]
        subprocess.run(words, cwd=self.place, check=True)
        return list(self.place.glob("*.deb"))
