"""Sessions at the rates of Table I of the paper on session control, in ns-2 as it was in 2001.

    python -m tools.validate.ns2_of_2001 [--source DIR] [--rate N]... [--seconds N] [--seeds N]
                                         [--reuse]

The paper came out in 2002, with results of an ns-2 that it does not name. This builds ns-2.1b8a,
of 2001, and prints what its FullTcp does with the same sessions as ns-2.35 and tidegate's profile
`ns2-2001`: how many complete, and in how long. `--source` is a folder with ns-2.1b8a, for a machine
that cannot fetch it. With `--reuse` a session of ns-2 takes the agents of one that is over.

The source that is fetched holds a model of Bluetooth beside ns-2. Its authors left the files of
ns-2 that they changed as `*.orig`: these are put back, and nothing of the model is compiled.
What else is changed lets a compiler and the libraries of today take it, and no rule of TCP.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tools.peers.install import BUILD, UnavailableError, run
from tools.validate import ns2
from tools.validate.dumbbell import UNLIMITED, Case, Dumbbell, Tcp, case, sessions
from tools.validate.measure import Measures, of_ns2, of_tidegate

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE = "https://github.com/smilemare/NS-2.1b8a-MacOS"
COMMIT = "b556e49"
FOLDER = BUILD / "ns-2.1b8a"
PACKAGES = "apt-get install -y g++ make tclcl libotcl1-dev libtclcl1-dev tcl8.6-dev"
NOT_NS2 = ("baseband", "bt-", "l2cap", "lbf", "lmp")
"""How the names of files of the Bluetooth model begin."""
FLAGS = (
    "-std=gnu++98 -fpermissive -w -O2 -DTCP_DELAY_BIND_ALL -DNO_TK -DNIXVECTOR"
    " -DUSE_INTERP_RESULT -DHAVE_LIBTCLCL -DHAVE_TCLCL_H -DHAVE_LIBOTCL1 -DHAVE_OTCL_H"
    " -DHAVE_TCL_H -Ibefore-the-standard -I. -I/usr/include/tclcl -I/usr/include/tcl8.6"
    " -include cstring -include cstdlib -include cmath"
)
EDITS = (
    # Debian's TclCL links no numbers of 64 bits
    ("queue-monitor.h", r"\bint64_t\b", "double"),
    # the Tcl of the machine that this source was configured on
    ("tcl/lib/ns-autoconf.tcl", r'"\S*/bin/tclsh[0-9.]*"', '"/usr/bin/tclsh"'),
    # part of multicast file transfer, which nothing here uses
    ("codeword.cc", r"assert\(sizeof\(unsigned long\) == 4\)", "assert(true)"),
)
"""Files, what is replaced in them (a pattern), and what by."""

RATES = (100, 150, 250)
"""Sessions a second that the paper's gate admits, in Table I."""
PAPER = {100: (99.84, 4.053), 150: (102.6, 25.001), 250: (107.088, 42.031)}
"""Its completions a second, and its mean completion time in seconds, which includes waiting."""
DEFAULTS = {"rto_init": "6", "rto_min": "1", "rto_max": "100000"}
"""Timeouts of ns-2.1b8a, of which flows.tcl has other values."""


def program(source: Path | None = None) -> str:
    """Fetch and build ns-2.1b8a unless it is there; UnavailableError says what is missing."""
    made = FOLDER / "ns"
    if made.exists():
        return str(made)
    if missing := [name for name in ("g++", "make", "tcl2c++") if shutil.which(name) is None]:
        raise UnavailableError(f"not installed: {', '.join(missing)}: {PACKAGES}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(source or fetched(), FOLDER, ignore=shutil.ignore_patterns("*.o"))
    prepare(FOLDER)
    run(
        f"ns-2.1b8a does not compile here ({PACKAGES})",
        ["make", "-C", str(FOLDER), "-f", "of-today.mk", f"-j{os.cpu_count()}"],
    )
    return str(made)


def fetched() -> Path:
    """Return the source, fetched if it is not there."""
    folder = BUILD / "ns-2.1b8a-source"
    if not (folder / "ns-2.1b8a" / "tcp.cc").exists():
        fault = "ns-2.1b8a cannot be fetched (--source takes a folder)"
        run(fault, ["git", "clone", "--quiet", "--no-checkout", SOURCE, str(folder)])
        run(fault, ["git", "-C", str(folder), "checkout", COMMIT, "--", "ns-2.1b8a"])
    return folder / "ns-2.1b8a"


def prepare(folder: Path) -> None:
    """Put ns-2's own files back, make the few edits, and write the makefile."""
    for kept in sorted(folder.rglob("*.orig")):
        shutil.copy(kept, kept.with_suffix(""))
    for name, old, new in EDITS:
        path = folder / name
        text, times = re.subn(old, new, path.read_text(encoding="latin-1"))
        if times == 0:
            raise UnavailableError(f"{path}: this is not the source of ns-2.1b8a")
        path.write_text(text, encoding="latin-1")
    headers = folder / "before-the-standard"
    headers.mkdir(exist_ok=True)
    for name in ("iostream", "fstream"):
        text = f"#include <{name}>\nusing namespace std;\n"
        (headers / f"{name}.h").write_text(text, encoding="ascii")
    # what another machine made of these files, with the Bluetooth model in them
    for made in ("ns", "ptypes2tcl"):
        (folder / made).unlink(missing_ok=True)
    shutil.rmtree(folder / "gen", ignore_errors=True)
    (folder / "gen").mkdir()
    (folder / "of-today.mk").write_text(makefile(folder), encoding="ascii")


def makefile(folder: Path) -> str:
    """Return a makefile of the objects that ns-2's own names."""
    text = (folder / "Makefile.in").read_text(encoding="latin-1").replace("\\\n", " ")
    [listed] = [line for line in text.splitlines() if line.startswith("OBJ_CC =")]
    words = listed.partition("=")[2].replace("$(LIB_DIR)", "lib/").split()
    objects = [each for each in words if each[0] != "@" and not each.startswith(NOT_NS2)]
    objects += ["tclAppInit.o", "gen/ns_tcl.o", "gen/ptypes.o", "gen/version.o"]
    lines = [
        f"FLAGS = {FLAGS}",
        f"OBJECTS = {' '.join(objects)}",
        "ns: $(OBJECTS)",
        "\tg++ -o $@ $(OBJECTS) -ltclcl -lotcl -ltcl8.6 -ldl -lm",
        "%.o: %.cc",
        "\tg++ $(FLAGS) -c $< -o $@",
        "gen/ns_tcl.cc:",
        "\ttclsh bin/tcl-expand.tcl tcl/lib/ns-lib.tcl | tcl2c++ et_ns_lib > $@",
        "gen/ptypes.cc: ptypes2tcl",
        "\t./ptypes2tcl > $@",
        "ptypes2tcl: ptypes2tcl.cc",
        "\tg++ $(FLAGS) -o $@ $<",
        "gen/version.cc: VERSION",
        "\ttclsh bin/string2c.tcl version_string < VERSION > $@",
    ]
    return "\n".join(lines) + "\n"


def sessions_of(rate: int, seconds: int, *, reuse: bool = False) -> Case:
    """Return sessions at a rate of Table I, in the paper's network, of which none is refused."""
    tcp = Tcp(window=UNLIMITED, profile="ns2-2001")
    about = f"{rate} sessions/s of 10 kB (Pareto 1.5), nothing refused, {seconds} s"
    made = case(
        f"then-{rate}",
        about,
        Dumbbell(tcp=tcp, wakes=False),
        sessions(rate),
        ("completed_per_s", "fct_mean_s"),
        seconds=seconds,
        seeds=1,
    )
    made.settings.update(DEFAULTS, reuse=str(int(reuse)))
    return made


def compared(then: str, rate: int, seconds: int, seed: int, *, reuse: bool) -> tuple[Measures, ...]:
    """Return what is measured of one list of sessions in ns-2.1b8a, ns-2.35 and tidegate."""
    each = sessions_of(rate, seconds, reuse=reuse)
    mine, flows = of_tidegate(each, seed)
    return of_ns2(each, seed, flows, then), of_ns2(each, seed, flows), mine


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.validate.ns2_of_2001")
    parser.add_argument("--source", type=Path, help="a folder with ns-2.1b8a; default: fetch it")
    parser.add_argument("--rate", type=int, action="append", help="sessions a second; repeatable")
    parser.add_argument("--seconds", type=int, default=250, help="simulated time; default 250")
    parser.add_argument("--seeds", type=int, default=3, help="seeds; default 3")
    parser.add_argument("--reuse", action="store_true", help="use the agents of ns-2 again")
    given = parser.parse_args()
    try:
        then = program(given.source)
        ns2.find()
    except (UnavailableError, ns2.MissingError) as error:
        print(error, file=sys.stderr)
        return 2
    print("| sessions/s | paper, admitted by a gate | ns-2.1b8a | ns-2.35 | tidegate, `ns2-2001` |")
    print("|---|---|---|---|---|")
    rates, seeds = given.rate or RATES, range(1, given.seeds + 1)
    with ProcessPoolExecutor() as pool:
        waiting = {
            rate: [
                pool.submit(compared, then, rate, given.seconds, seed, reuse=given.reuse)
                for seed in seeds
            ]
            for rate in rates
        }
        for rate, jobs in waiting.items():
            runs = [job.result() for job in jobs]
            said = "{:.1f}/s, {:.1f} s".format(*PAPER[rate]) if rate in PAPER else ""
            columns = [shown([run[place] for run in runs]) for place in range(3)]
            print(f"| {rate} | {said} | {' | '.join(columns)} |", flush=True)
    return 0


def shown(runs: Sequence[Measures]) -> str:
    """Return completions a second and the mean completion time, means over the seeds."""
    rate, took = (
        [run[name] for run in runs if not math.isnan(run[name])]
        for name in ("completed_per_s", "fct_mean_s")
    )
    spread = f" ± {statistics.stdev(rate):.1f}" if len(rate) > 1 else ""
    return f"{statistics.mean(rate):.1f}{spread}/s, {statistics.mean(took):.1f} s"


if __name__ == "__main__":
    sys.exit(main())
