"""Experiments with real processes (`tidegated testbed`), compared with paper and simulation."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.errors import UsageError
from tidegate.papers.lgc.cases import EQUAL, as_processes
from tidegate.papers.lgc.measures import NODES, found, looks, share, taken
from tidegate.papers.page import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

NOBODY = "-"
"""In the order of triggers: one that found nobody."""
Rows = list[dict[str, str]]
SOURCES = {"1": "1234567", "1b": "1234567", "2": "12345", "3": "1234567"}
GREEDY = {"1": ("1",), "1b": (), "2": ("1",), "3": ("1", "3")}
PAPER = {
    "1": ("1, once", "53.5 %", "100 %", "39 waited, 21 of source 1, 17 permitted"),
    "1b": ("nobody", "", "100 %", ""),
    "2": ("1, once", "48.8 %", "", "I3 a123-a135, I2 a136-a173, I1 a174-a250"),
    "3": ("1, then 3", "57.33 %, 46 %", "100 %", ""),
}
"""What the paper has: who is filtered, what arrives of them and of the others, and more."""


class Testbed:
    """One run of a testbed file."""

    def __init__(self, folder: Path) -> None:
        names = ("connections", "dropped", "events")
        self.connections, self.dropped, self.events = (_table(folder / f"{n}.csv") for n in names)

    def order(self) -> list[str]:
        """Return who was filtered, in the order of triggers; a dash is one that found nobody."""
        return [row["origin"] or NOBODY for row in self.events if row["phase"] == "trigger"]

    def arrived(self, sources: Sequence[str]) -> list[float]:
        """Return what arrived of sources, in percent."""
        shares = {row["origin"]: float(row["delivered_share"]) for row in self.connections}
        return [100 * shares[source] for source in sources]

    def way(self) -> list[tuple[str, int, int]]:
        """Return where packets of source 1 were filtered, and which."""
        return [
            (row["node"], int(row["first"]), int(row["last"]))
            for row in self.dropped
            if row["origin"] == "1"
        ]

    def seen(self) -> str:
        """Return what LGC saw when it was triggered first."""
        row = next((row for row in self.events if row["phase"] == "trigger"), None)
        if row is None:
            return ""
        held = dict(each.rsplit(":", 1) for each in row["held"].split())
        return _seen(int(float(row["from"])), int(held.get("1", 0)), int(float(row["set"])))


def _table(path: Path) -> Rows:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.",
            "Give --testbed a folder with experiment-1, experiment-1b, experiment-2 and"
            " experiment-3, each made by `tidegated testbed FILE --out FOLDER/experiment-N`.",
        ) from error


def shipped() -> Path:
    """Return the results that come with the paper."""
    return Path(str(files("tidegate.papers.lgc") / "testbed"))


FOUND = "found"
"""The folder of results at the settings that the search has found, within the other."""


def results_folder(folder: Path | None, *, found: bool) -> Path:
    """Return where the results are; those that come with the paper for what a folder lacks."""
    home = folder or shipped()
    if not found:
        return home
    return home / FOUND if (home / FOUND).is_dir() else shipped() / FOUND


def runs_of(folder: Path, experiment: str) -> list[Testbed]:
    """Return the runs of an experiment: of `--times`, or the one that there is."""
    home = folder / f"experiment-{experiment}"
    several = sorted(each for each in home.glob("run-*") if each.is_dir())
    return [Testbed(each) for each in several or [home]]


def _seen(packets: int, greedy: int, permitted: int) -> str:
    return f"{packets} waited, {greedy} of source 1, {permitted} permitted"


def _order(chosen: Sequence[str]) -> str:
    if not set(chosen) - {NOBODY}:
        return "nobody"
    if len(chosen) == 1:
        return f"{chosen[0]}, once"
    return ", then ".join("nobody" if each == NOBODY else each for each in chosen)


def _percents(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.4g} %" for value in values)


def _way(ranges: Sequence[tuple[str, int, int]]) -> str:
    return ", ".join(f"{node} a{first}-a{last}" for node, first, last in ranges)


def _of_testbed(run: Testbed, experiment: str) -> tuple[str, str, str, str]:
    others = [each for each in SOURCES[experiment] if each not in GREEDY[experiment]]
    more = run.seen() if experiment == "1" else _way(run.way()) if experiment == "2" else ""
    least = _percents([min(run.arrived(others))])
    return _order(run.order()), _percents(run.arrived(GREEDY[experiment])), least, more


def _of_simulation(record: SavedRun, experiment: str) -> tuple[str, str, str, str]:
    others = [each for each in SOURCES[experiment] if each not in GREEDY[experiment]]
    seen = [look.origin.removeprefix("s") or NOBODY for look in looks(record)]
    more = ""
    if experiment == "1" and found(record):
        first = looks(record)[0]
        more = _seen(first.packets, first.held.get("s1", 0), _permitted(list(first.held.values())))
    if experiment == "2":
        ranges = [(name, taken(record, port)) for port, name in NODES.items()]
        more = _way([(name, run.first, run.last) for name, run in ranges if run])
    greedy = [100 * share(f"s{each}")(record) for each in GREEDY[experiment]]
    least = 100 * share(*(f"s{each}" for each in others))(record)
    return _order(seen), _percents(greedy), _percents([least]), more


def _permitted(held: list[int]) -> int:
    from tidegate import _native

    return _native.lgc_look(held)[0]


def side_by_side(runs: Runs, folder: Path | None, *, found: bool = False) -> str:
    """Return the table of paper, simulation and processes, in Markdown.

    At the settings that the search has found, or at those under which processes do
    all that the paper says.
    """
    home = results_folder(folder, found=found)
    rows = []
    labels = ("filtered", "arrives of these", "of the others, the least", "")
    for experiment in SOURCES:
        alike = EQUAL if experiment == "2" else experiment
        case = alike if found else as_processes(experiment)
        simulated = _of_simulation(runs.records(case)[0], experiment)
        real = [_of_testbed(run, experiment) for run in runs_of(home, experiment)]
        for place, label in enumerate(labels):
            cells = (PAPER[experiment][place], simulated[place], _each(real, place))
            if any(cells):
                what = label or ("at the trigger" if experiment == "1" else "filtered at")
                rows.append((experiment, what, *cells))
    return "\n".join(table(("experiment", "", "paper", "simulated (seed 1)", "processes"), rows))


def _each(real: Sequence[tuple[str, ...]], place: int) -> str:
    """Return what the runs have; once, if it is the same in all."""
    texts = [run[place] for run in real]
    return texts[0] if len(set(texts)) == 1 else "; ".join(texts)
