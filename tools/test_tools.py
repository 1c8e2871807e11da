"""Install what some tests take, so that `make test` leaves nothing out: `make test-tools`.

Programs come from Debian's packages, ns-3 from PyPI, the source of Linux's DualPI2 from Debian's
archive; the ends of QUIC are compiled. What cannot be had is named, and the rest goes on.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping

from tidegate.hosts import archive
from tools import axe
from tools.live.quic import ENDS
from tools.peers.install import UnavailableError
from tools.validate import linux, ns3

PROGRAMS = {
    "chromium": "chromium",
    "curl": "curl",
    "firefox-esr": "firefox-esr",
    "fish": "fish",
    "g++": "g++",
    "node": "nodejs",
    "ns": "ns2",
    "prometheus": "prometheus",
    "tshark": "tshark",
    "zsh": "zsh",
}
"""A program that tests run, and its package."""


def programs() -> None:
    """Install the packages that are missing, as root."""
    archive.need(PROGRAMS)


def quic_ends() -> None:
    """Compile the real ends of QUIC."""
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run(command, cwd=ENDS, check=True)


STEPS: Mapping[str, Callable[[], object]] = {
    "programs": programs,
    "ns-3": ns3.build,
    "DualPI2 of Linux": linux.find,
    "ends of QUIC": quic_ends,
    "axe-core": axe.install,
}


def main() -> int:
    """Take every step; 1 if one of them failed."""
    failed = 0
    for name, step in STEPS.items():
        print(f"{name} ...", flush=True)
        try:
            step()
        except (archive.Obstacle, UnavailableError, subprocess.CalledProcessError) as reason:
            print(f"{name}: {reason}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
