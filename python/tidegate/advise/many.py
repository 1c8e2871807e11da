"""How many people fit: the largest number with which everybody stays within the limits.

For each seed by bisection, as if more people never make it better; the interval is that over seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.advise.people import MOST, counted
from tidegate.advise.scene import under
from tidegate.advise.verdict import within_reach
from tidegate.grid.work import Task, Work
from tidegate.results.run_output import Wanted
from tidegate.results.statistics import interval, metrics
from tidegate.scenario.document import read
from tidegate.show.advice import users_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tidegate.advise.fit import Link
    from tidegate.advise.people import People
    from tidegate.advise.scene import Times
    from tidegate.grid.executor import Executor
    from tidegate.results.run_output import RunOutput
    from tidegate.show.experience import Measure

    Fits = Callable[[Mapping[int, int]], Mapping[int, bool]]
    """Tells for each seed whether that number of people fits."""

CLOSE = 0.04
"""A seed is done when its two numbers, fits and does not, are this close."""
UNSERVED = 0.05
"""So many may give up their page, or never see their video begin (chosen)."""
GAVE_UP = {"pages_loaded_share": "pages_given_up_share", "never_started_share": ""}
"""Where a share says who is served: the measure of those who are not. A share of what is complete
at the end of a run leaves out what began shortly before."""


@dataclass(frozen=True)
class HowMany:
    """The largest number of people that fits, over seeds."""

    control: str
    of_seeds: tuple[int, ...]

    @property
    def mean(self) -> int:
        """The mean over seeds, rounded down."""
        return int(interval(self.of_seeds)["mean"] or 0)

    @property
    def span(self) -> tuple[int, int]:
        """The 95 % interval; with one seed it is that seed's number."""
        found = interval(self.of_seeds)
        low, high = found["low"], found["high"]
        if low is None or high is None:
            return self.mean, self.mean
        return max(0, int(low)), min(MOST, round(high))

    def __str__(self) -> str:
        if not any(self.of_seeds):
            return "not even one person, as in the model each thing is done by one at least"
        if all(number >= MOST for number in self.of_seeds):
            return f"all of {MOST} people, the most that are tried"
        low, high = self.span
        return f"{counted(self.mean)} (95 %: {low} to {high})"

    def document(self) -> dict[str, object]:
        """Return it for machines."""
        low, high = self.span
        return {
            "control": self.control,
            "people": self.mean,
            "low": low,
            "high": high,
            "of_seeds": list(self.of_seeds),
            "most_tried": MOST,
        }


def largest(seeds: Sequence[int], first: int, fits: Fits) -> dict[int, int]:
    """Return for each seed the largest number that fits; 0: not even one does.

    Numbers are doubled or halved from `first` on until one fits and one does not, then bisected.
    """
    low = dict.fromkeys(seeds, 0)
    high = dict.fromkeys(seeds, MOST + 1)
    asked = dict.fromkeys(seeds, min(max(first, 1), MOST))
    while asked:
        for seed, fitted in fits(asked).items():
            number = asked[seed]
            (low if fitted else high)[seed] = number
        asked = {}
        for seed in seeds:
            one, two = low[seed], high[seed]
            if two - one > max(1, CLOSE * one):
                asked[seed] = _next(one, two)
    return low


def _next(low: int, high: int) -> int:
    """Return which number is tried next."""
    if high > MOST:
        return min(2 * low, MOST) if 2 * low < MOST else MOST
    return max(1, high // 2) if low == 0 else (low + high) // 2


def within(run: Mapping[str, float | None], classes: Sequence[str], rtt_s: float = 0.0) -> bool:
    """Tell whether everybody in a run stays within the first limit of each measure.

    Limits that the round trip of the link breaks by itself are left out.
    """
    return all(
        _kept(run, users.prefix, measure)
        for users in within_reach(users_of(classes, None, [run]), rtt_s)
        for measure in users.kind.measures
    )


def _kept(run: Mapping[str, float | None], prefix: str, measure: Measure) -> bool:
    if measure.metric in GAVE_UP:
        unserved = run.get(f"{prefix}{GAVE_UP[measure.metric] or measure.metric}")
        return unserved is None or unserved <= UNSERVED
    if not measure.limits:
        return True
    # nothing was served where there is no value
    found = run.get(f"{prefix}{measure.metric}")
    return found is not None and found <= min(measure.limits)


def how_many(
    link: Link,
    who: People,
    control: str,
    seeds: Sequence[int],
    length: Times,
    executor: Executor,
    said: Callable[[str], None] = lambda _: None,
) -> HowMany:
    """Search for the largest number of people at a link under one control."""

    def fits(asked: Mapping[int, int]) -> dict[int, bool]:
        said(
            f"{control}: {', '.join(str(number) for number in sorted(set(asked.values())))} people"
        )
        return dict(_tried(link, who, control, asked, length, executor))

    found = largest(seeds, who.number, fits)
    return HowMany(control, tuple(found[seed] for seed in seeds))


def _tried(
    link: Link,
    who: People,
    control: str,
    asked: Mapping[int, int],
    length: Times,
    executor: Executor,
) -> Iterator[tuple[int, bool]]:
    """Run each seed with its number of people."""
    jobs = list(asked.items())
    scenarios = {
        number: read(under(link, who.having(number), length, control)).load()
        for number in set(asked.values())
    }

    def task(index: int) -> Task:
        seed, number = jobs[index]
        return Task(scenarios[number], seed, {})

    def keep(index: int, output: RunOutput) -> tuple[int, bool]:
        seed, number = jobs[index]
        return seed, within(metrics(output.summary), scenarios[number].classes, link.trip_s)

    work = Work(len(jobs), task, Wanted(tables=False, curves=False), keep)
    for _, told in executor.run(work):
        yield told
