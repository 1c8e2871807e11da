"""The checks of statements of the text outside the experiments (1, 2.2, 3.1, 4.2, 5.4)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tidegate.papers.check_builders import Greater, Value, ordering, unchecked
from tidegate.papers.lgc.cases import CROWDS, crowd, moved
from tidegate.papers.lgc.crowds import (
    above_permitted,
    disparity_above,
    disparity_below,
    taken_share,
)
from tidegate.papers.lgc.measures import (
    looks,
    share,
    taken_at_once,
    wasted,
    work_at_congested,
)
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check_results import Check
    from tidegate.papers.runs import Parts, Runs

LITTLE = 0.1
"""What is left of something that is removed, at most."""


@claim("text.stop", of=("2",))
def stops(runs: Runs) -> Parts:
    """Check that the filter stays at I1, and that nothing is sent to the source."""
    records = runs.records("2")
    last = [record.events("first")["phase"] for record in records]
    back = [record.port("entry.reverse")["departed"] for record in records]
    return {
        "I1 is the first hop, and asks nobody": [
            1.0 if phases == ["first-hop"] else -1.0 for phases in last
        ],
        "no packet goes to the source": [0.5 - packets for packets in back],
        "LGC looked": [float(len(looks(record))) for record in records],
    }


@claim("text.many_conns")
def among_many() -> Check:
    """Check that the more connections there are, the further the greedy one is above its share."""
    cases = [crowd("tail", others) for others in CROWDS]
    return ordering(
        *(
            Greater(
                f"{CROWDS[place + 1]} beside it, more than {CROWDS[place]}",
                Value(more, above_permitted),
                Value(less, above_permitted),
            )
            for place, (less, more) in enumerate(pairwise(cases))
        )
    )


@claim("text.red_fair", of=(crowd("red", 9),))
def unfair(runs: Runs) -> Parts:
    """Check that under RED alone one that does not give way gets more than a tenth among ten."""
    values = runs.values(crowd("red", 9), taken_share)
    return {f"{100 * values.mean():.0f} % of the link, above 10 %": values - 0.1}


@claim("text.max_disparity", of=(crowd("red", 9),))
def disparity(runs: Runs) -> Parts:
    """Check that the greedy one is further above the others while the average is above max_th."""
    key = crowd("red", 9)
    above, below = runs.values(key, disparity_above), runs.values(key, disparity_below)
    return {
        f"{above.mean():.3g} packets more than the others, {below.mean():.3g} below": above - below
    }


@claim("text.static_filter", of=tuple(moved(kind, lasting=True) for kind in ("mobile", "static")))
def at_one_place(runs: Runs) -> Parts:
    """Check what a filter costs that stays, and that one that moves leaves little of it."""
    stays, moves = (moved(kind, lasting=True) for kind in ("static", "mobile"))
    parts: Parts = {}
    for what, measure in (
        ("MB upstream for nothing", wasted),
        ("packets to filter at I3", work_at_congested),
    ):
        much, little = runs.values(stays, measure), runs.values(moves, measure)
        said = f"{what}: {much.mean():.3g} where it stays, {little.mean():.3g} where it moves"
        parts[said] = LITTLE * much - little
    return parts


@claim("text.full_red", of=("1/complete-red",))
def complete_red(runs: Runs) -> Parts:
    """Check that with complete RED packets of those that give way are lost."""
    values = runs.values("1/complete-red", taken_at_once)
    return {f"{100 * values.mean():.3g} % of what comes is taken, below 100 %": 1.0 - values}


@claim("text.incentive", of=("1", "2", "3"))
def incentive(runs: Runs) -> Parts:
    """Check that less arrives of greedy sources than of any other."""
    parts: Parts = {}
    for case, greedy, others in (
        ("1", ("s1",), ("s2", "s3", "s4", "s5", "s6", "s7")),
        ("2", ("s1",), ("s2", "s3", "s4", "s5")),
        ("3", ("s1", "s3"), ("s2", "s4", "s5", "s6", "s7")),
    ):
        for each in greedy:
            more, less = runs.values(case, share(*others)), runs.values(case, share(each))
            both = f"{100 * less.mean():.3g} % of {each}, of others {100 * more.mean():.4g} %"
            said = f"experiment {case}: {both}"
            parts[said] = more - less
    return parts


@claim("table1.rani")
def architectures() -> Check:
    """Say what there is to the row of the table."""
    return unchecked(
        "A row in a table of architectures, nothing to measure. The nodes of `tidegated` are of its"
        " kind: a menu of services, ActiveFilter and ActiveTraceroute, and no code in packets."
    )
