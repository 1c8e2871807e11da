"""Find or install the other simulators.

ns-2 is from the system, ns-3 and ns.py are from PyPI, htsim and UNISON are compiled from source.

They are installed in build/peers, never in the user's own environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "peers"

NS3 = "ns3==3.44.post0"
NS3_LIBRARIES = (
    "applications",
    "internet",
    "nix-vector-routing",
    "point-to-point",
    "traffic-control",
    "network",
    "core",
)
NS_PY = "ns.py==0.4.3"
HTSIM = "https://github.com/Broadcom/csg-htsim"
HTSIM_COMMIT = "841d9e7be46bb968eece766aa4b6c044c7799f67"
# what TCP over queues and pipes takes of it
HTSIM_SOURCES = (
    "clock",
    "config",
    "eth_pause_packet",
    "eventlist",
    "fairpullqueue",
    "logfile",
    "loggers",
    "mtcp",
    "ndppacket",
    "network",
    "pipe",
    "queue",
    "route",
    "sent_packets",
    "tcp",
    "tcppacket",
)


UNISON = "https://github.com/NASA-NJU/UNISON-for-ns-3"
UNISON_COMMIT = "1d5c3830e8dbd6d7ea4dadc532c8a14934ccad9e"
UNISON_MODULES = (*NS3_LIBRARIES, "bridge", "mpi", "mtp", "stats")
UNISON_OTHERS = (
    "CMakeLists.txt",
    "VERSION",
    "build-support",
    "contrib",
    "examples",
    "scratch",
    "utils",
)


class UnavailableError(RuntimeError):
    """A peer cannot be installed here."""


@dataclass(frozen=True)
class Peer:
    """Another simulator."""

    name: str
    about: str
    seconds: float
    """Simulated time of a round: less than the yardstick's where that would take minutes."""
    install: Callable[[], list[str]]
    """Returns the command that runs the yardstick, but for the starts and the seconds."""
    by: str = "cpu_s"
    """What its time is: of the processor, or `wall_s` where it runs on all of them."""
    named: bool = False
    """Whether it runs only if it is named, as it takes long to compile."""


def environment(name: str, requirement: str, *options: str) -> Path:
    """Return the Python of a virtual environment that has a package from PyPI."""
    folder = BUILD / name
    python = folder / "bin" / "python"
    done = folder / ".installed"
    if done.exists() and done.read_text(encoding="ascii") == requirement:
        return python
    pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [*pip, *options, requirement],
    )
    for step in steps:
        result = subprocess.run(step, check=False, capture_output=True, text=True)
        if result.returncode:
            last = (result.stderr.strip().splitlines() or ["no message"])[-1]
            raise UnavailableError(f"pip has no {requirement} for this Python: {last}")
    done.write_text(requirement, encoding="ascii")
    return python


def ns2() -> list[str]:
    """Find ns-2."""
    path = shutil.which("ns")
    if path is None:
        raise UnavailableError("apt-get install -y ns2")
    return [path, str(HERE / "yardstick.tcl")]


def compile_ns3(source: Path) -> Path:
    """Build a program against the headers and libraries in ns-3's wheel, and return it."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise UnavailableError("it takes a C++ compiler, g++")
    # the dependencies are for its Python interface, which is not used
    python = environment("ns3", NS3, "--no-deps")
    (wheel,) = python.parents[1].glob("lib/python*/site-packages/ns3")
    program = BUILD / f"{source.stem}-ns3"
    written = max(each.stat().st_mtime for each in (source, *source.parent.glob("*.h")))
    if not program.exists() or program.stat().st_mtime < written:
        release = NS3.partition("==")[2].partition(".post")[0]
        libraries = wheel / "lib64"
        # -w: the warnings are of ns-3's headers
        command = [compiler, "-O2", "-std=c++20", "-w", str(source), f"-I{wheel / 'include'}"]
        command += [f"-L{libraries}", *(f"-lns{release}-{name}" for name in NS3_LIBRARIES)]
        command += [f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined", "-o", str(program)]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode:
            raise UnavailableError(f"its wheel does not compile here: {result.stderr[:500]}")
    return program


def ns3() -> list[str]:
    """Build the yardstick in ns-3."""
    return [str(compile_ns3(HERE / "yardstick.cc"))]


def ns_py() -> list[str]:
    """Install ns.py."""
    return [str(environment("ns.py", NS_PY)), str(HERE / "yardstick_ns_py.py")]


def htsim() -> list[str]:
    """Fetch and build htsim, with the yardstick in it."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise UnavailableError("it takes a C++ compiler, g++")
    folder = BUILD / "csg-htsim"
    program, source = BUILD / "yardstick-htsim", HERE / "yardstick_htsim.cpp"
    if not (folder / "sim" / "tcp.cpp").exists():
        run(
            "it cannot be fetched", ["git", "clone", "--quiet", "--no-checkout", HTSIM, str(folder)]
        )
        # without its experiments, which are large
        run(
            "it cannot be fetched",
            ["git", "-C", str(folder), "checkout", HTSIM_COMMIT, "--", "sim"],
        )
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        files = [str(folder / "sim" / f"{name}.cpp") for name in HTSIM_SOURCES]
        # the options of its own Makefile, without the warnings
        command = [compiler, "-O3", "-std=c++11", "-w", f"-I{folder / 'sim'}", str(source), *files]
        run("it does not compile here", [*command, "-o", str(program)])
    return [str(program)]


def unison(threads: int) -> list[str]:
    """Fetch and build UNISON, with the yardstick on so many threads."""
    folder, program = BUILD / "unison", BUILD / f"yardstick-unison-{threads}"
    source, built = HERE / "yardstick.cc", BUILD / "unison" / ".built"
    if missing := [each for each in ("g++", "cmake", "ninja") if shutil.which(each) is None]:
        raise UnavailableError(f"it takes {', '.join(missing)}")
    if not built.exists():
        shutil.rmtree(folder, ignore_errors=True)
        git = ["git", "clone", "--quiet", "--no-checkout", UNISON, str(folder)]
        run("it cannot be fetched", git)
        # without the modules that are not used, some of which are large
        parts = ["src/CMakeLists.txt", *(f"src/{module}" for module in UNISON_MODULES)]
        command = ["git", "-C", str(folder), "checkout", UNISON_COMMIT, "--"]
        run("it cannot be fetched", [*command, *UNISON_OTHERS, *parts])
        command = ["cmake", "-S", str(folder), "-B", str(folder / "cmake"), "-G", "Ninja"]
        command += ["-DCMAKE_BUILD_TYPE=release", "-DNS3_MTP=ON", "-DNS3_WARNINGS_AS_ERRORS=OFF"]
        command += ["-DNS3_EXAMPLES=OFF", "-DNS3_TESTS=OFF"]
        command += [f"-DNS3_ENABLED_MODULES={';'.join((*NS3_LIBRARIES, 'mtp'))}"]
        run("it does not compile here", command)
        run("it does not compile here", ["ninja", "-C", str(folder / "cmake")])
        built.touch()
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        libraries = folder / "build" / "lib"
        names = [each.name for each in sorted(libraries.glob("lib*.so"))]
        command = ["g++", "-O3", "-std=c++20", "-w", f"-DTHREADS={threads}", "-DNS3_MTP"]
        command += [str(source), f"-I{folder / 'build' / 'include'}", f"-L{libraries}"]
        command += [*(f"-l:{name}" for name in names), f"-Wl,-rpath,{libraries}"]
        run("it does not compile here", [*command, "-o", str(program)])
    return [str(program)]


def run(fault: str, command: list[str]) -> None:
    """Run a command; what it says is the reason if it fails."""
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode:
        raise UnavailableError(f"{fault}: {result.stderr[:500]}")


PEERS = (
    Peer("ns-2", "2.35, one-way NewReno, only the packet headers that are used", 20.0, ns2),
    Peer("htsim", "of March 2026, routes at the source, NewReno", 20.0, htsim),
    Peer("ns-3", "3.44 from PyPI, C++, NewReno, nix-vector routing", 4.0, ns3),
    Peer("unison", "ns-3.41 with UNISON, one thread", 4.0, partial(unison, 1), named=True),
    Peer(
        "unison-all",
        "the same on all processors, by the clock",
        4.0,
        partial(unison, os.cpu_count() or 1),
        by="wall_s",
        named=True,
    ),
    Peer("ns.py", "0.4.3 from PyPI, Reno", 2.0, ns_py),
)
