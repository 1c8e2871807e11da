"""The estimate of `--dry-run`: flows, memory and time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tidegate.results import forecast
from tidegate.show.of_grid import number_over_axes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._native import Scenario
    from tidegate.grid.plan import Subject

    Laws = Mapping[str, Any] | None


START_S = 1.3
"""What a command takes to start and to end, on one core of 2 GHz; measured, rounded up."""
LOADING_S, DRAWING_S = 1.2, 1.0
"""What loading matplotlib takes, and the pictures of a comparison or one of a sweep."""
SETTING_S = 0.25
"""What each setting adds to the pictures of a comparison."""


@dataclass(frozen=True)
class Forecast:
    """The estimated cost of some runs."""

    name: str
    settings: int
    runs: int
    simulated_s: float
    flows: dict[str, float]
    memory_bytes: float
    cpu_s: float
    workers: int
    pictures_s: float = 0.0
    start_s: float = START_S
    offered: tuple[str, ...] = ()

    @property
    def wall_s(self) -> float:
        """Estimated time from the command to its end: start, runs and pictures."""
        return self.start_s + self.cpu_s / max(min(self.workers, self.runs), 1) + self.pictures_s

    @property
    def _besides_s(self) -> float:
        return self.start_s + self.pictures_s

    def document(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        names = {"name": "scenario", "flows": "flows_per_run"}
        found = {names.get(name, name): value for name, value in asdict(self).items()}
        return found | {"wall_s": self.wall_s}

    def text(self) -> str:
        """Return it for a terminal."""
        classes = ", ".join(f"{name} {number:,.0f}" for name, number in self.flows.items())
        total = f"{sum(self.flows.values()):,.0f}"
        runs = f"{self.runs} run{'s' if self.runs != 1 else ''}"
        if self.settings > 1:
            runs += f" of {self.settings} settings"
        besides = "the start and the pictures" if self.pictures_s else "the start"
        lines = [
            ("runs to do", f"{runs}, {self.simulated_s:g} s simulated each"),
            ("flows of one", f"about {total}" + (f" ({classes})" if len(self.flows) > 1 else "")),
            (
                "memory",
                f"about {forecast.size(self.memory_bytes)}, {self.workers} at a time",
            ),
            ("CPU time", f"about {span(self.cpu_s)}"),
            ("time", f"about {span(self.wall_s)}, {span(self._besides_s)} of it {besides}"),
        ]
        table = [f"  {name:14}{value}" for name, value in lines]
        return "\n".join([self.name, *table, *(f"  {line}" for line in self.offered)])


def of_run(scenario: Scenario, seed: int, laws: Laws = None) -> Forecast:
    """Return the estimated cost of one run."""
    return of_grid([scenario], 1, seed, 1, scenario.name, laws)


def of_grid(
    scenarios: Sequence[Scenario],
    runs: int,
    seed: int,
    workers: int,
    name: str,
    laws: Laws = None,
    pictures_s: float = 0.0,
) -> Forecast:
    """Return the estimated cost of the runs of a grid, and of its pictures."""
    costly = max(scenarios, key=lambda each: each.memory_bytes)
    at_once = max(min(workers, runs), 1)
    return Forecast(
        name=name,
        settings=len(scenarios),
        runs=runs,
        simulated_s=costly.duration_s,
        flows=forecast.flows(costly),
        memory_bytes=costly.memory_bytes * at_once,
        cpu_s=forecast.cpu_of_all_s(scenarios, seed, laws) * runs,
        workers=at_once,
        pictures_s=pictures_s,
        offered=_offered(scenarios),
    )


def _offered(scenarios: Sequence[Scenario], most: int = 20) -> tuple[str, ...]:
    """Return the load offered to each link, if it is the same in the first scenarios."""
    found = {
        tuple(forecast.round_trips(each) + forecast.offered(each)) for each in scenarios[:most]
    }
    return found.pop() if len(found) == 1 else ()


def pictures_s(subject: Subject) -> float:
    """Return about how long the pictures of a comparison or a sweep take."""
    if subject.command == "compare":
        return LOADING_S + DRAWING_S + SETTING_S * len(subject.points)
    drawn = number_over_axes(subject.axes)
    return LOADING_S + DRAWING_S * drawn if drawn else 0.0


def span(seconds: float) -> str:
    """Return a time in a unit that fits its size."""
    if seconds < 100:
        return f"{seconds:.2g} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 360_000 else f"{seconds / 86_400:.0f} days"
