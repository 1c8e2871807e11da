"""Run the same flows through real hosts of this kernel and through the simulator, side by side.

    python -m tools.live.validate [--case NAME]... [--seeds N] [--markdown] [--write]

The link between the real hosts is `tidegated emulate` with the same scenario, so only the hosts
differ: this kernel's TCP, and the simulator's profile `linux`. The rule is that of
`make validate`: a difference is accepted up to 5 % or three standard errors over the seeds,
whichever is larger.
The exit status is 1 where a measure differs and nothing in tools/live/explained.py accounts for it,
2 where there can be no lab.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LATE_MS, Lab, interrupted, need, valid
from tools.live import alone, loads
from tools.live.explained import EXPLANATIONS
from tools.live.measure import of_flows, read, simulate
from tools.validate.dumbbell import Case
from tools.validate.judge import Verdict
from tools.validate.printer import Printer, many, renew

if TYPE_CHECKING:
    from tools.validate.measure import Measures

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "emulate-tables.md"
CONTROLS = ("reno", "cubic", "bbr")

ALONE = ("fct_mean_s", "retransmitted", "queue_mean")
OVERLOAD = ("completed_per_s", "fct_mean_s", "fct_p95_s", "retransmitted_share", "queue_mean")


SEEDS = 3


def _case(
    name: str, about: str, traffic: dict[str, Any], measures: tuple[str, ...], seconds: int
) -> Case:
    access = {"rate": "1Gbit", "delay": "0ms"}
    document = loads.document(seconds, {"all": traffic}, access=access, buffer="100packets")
    return Case(name, about, document, {"until": str(seconds)}, SEEDS, measures, "Linux")


def cases() -> list[Case]:
    """Return what is run: over 10 Mbit/s, RTT 40 ms, 100 packets of buffer."""
    found = []
    crowd = loads.pages(170, "sender")
    for control in CONTROLS:
        tcp = {"transport": {"tcp": {"profile": "linux", "control": control}}}
        for name, size, seconds in (
            ("short", "10kB", 2),
            ("middle", "100kB", 3),
            ("long", "5MB", 10),
        ):
            about = f"one upload of {size} by {control} alone"
            one = {"arrivals": {"at": ["200ms"]}, "size": size} | tcp
            found.append(_case(f"{name}-{control}", about, one, ALONE, seconds))
        about = f"170 uploads/s of 10 kB (Pareto 1.5) by {control}, 20 s"
        found.append(_case(f"overload-{control}", about, crowd | tcp, OVERLOAD, 20))
    return found


def of_linux(case: Case, seed: int) -> Measures:
    """Run real hosts, and measure."""
    return valid(partial(_in_the_lab, case, seed), partial(print, file=sys.stderr))


def _in_the_lab(case: Case, seed: int) -> Measures:
    with Lab(late_ms=LATE_MS) as lab:
        path, table = lab.write(case.document)
        link = lab.link(path, seed=seed)
        lab.traffic(path, table, download=False, seed=seed)
        there, _ = link.report()
        return _measures(read(table), case, float(there["queue_mean_packets"] * there["seconds"]))


def of_tidegate(case: Case, seed: int) -> Measures:
    """Run the simulator, and measure the same."""
    flows, queue = simulate(case.document, seed, {})
    return _measures(flows, case, queue * float(case.settings["until"]))


def _measures(flows: list[Any], case: Case, waited: float) -> Measures:
    seconds = float(case.settings["until"])
    measures = vars(of_flows(flows, seconds))
    return {**measures, "queue_mean": waited / seconds}


def hosts_alone(control: str, seeds: int, printer: Printer) -> None:
    """Print the cells of hosts alone by a control."""
    found = alone.compared(control, seeds, partial(print, file=sys.stderr))
    printer.verdicts.update(row.verdict for _, each in found for row in each)
    about = f"flows by {control} that share nothing, simulated / real; {many(seeds)}"
    printer.table(alone.name(control), about, alone.HEAD, alone.lines(found))


def options() -> argparse.Namespace:
    """Read the command line."""
    names = [*(case.name for case in cases()), *map(alone.name, CONTROLS)]
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.live.validate")
    parser.add_argument("--case", action="append", choices=names, help="only this; repeatable")
    parser.add_argument("--seeds", type=int, help="seeds per case instead of the case's own")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--write", action="store_true", help=f"renew them in {PAGE.name}")
    return parser.parse_args()


def main() -> int:
    """Run what was asked for."""
    given = options()
    need(gate=False)
    begin = time.perf_counter()
    printer = Printer(markdown=given.markdown, explanations=EXPLANATIONS)
    for case in cases():
        if given.case is None or case.name in given.case:
            seeds = range(1, (given.seeds or case.seeds) + 1)
            printer.case(case, [(of_tidegate(case, n), of_linux(case, n)) for n in seeds])
    for control in CONTROLS:
        if given.case is None or alone.name(control) in given.case:
            hosts_alone(control, given.seeds or SEEDS, printer)
    printer.say(f"\n{printer.counts()}; {time.perf_counter() - begin:.0f} s")
    if given.write:
        page = Path(PAGE)
        page.write_text(renew(page.read_text(encoding="utf-8"), printer.blocks), encoding="utf-8")
    return 1 if printer.verdicts[Verdict.DIFFERS] else 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
