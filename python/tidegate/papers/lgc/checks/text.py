"""The checks of statements of the text outside the experiments (1, 2.2, 3.1, 4.2, 5.4)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tidegate.papers.check_builders import between, ordering, unchecked
from tidegate.papers.lgc import measures as m
from tidegate.papers.lgc.cases import CROWDS, crowd, moved
from tidegate.papers.lgc.crowds import (
    above_permitted,
    disparity_above,
    disparity_below,
    taken_share,
)
from tidegate.papers.lgc.outcomes import FILTERED, OTHERS
from tidegate.papers.registry import claim

if TYPE_CHECKING:
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
        "LGC looked": [float(len(m.looks(record))) for record in records],
    }


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
        ("MB upstream for nothing", m.wasted),
        ("packets to filter at I3", m.work_at_congested),
    ):
        much, little = runs.values(stays, measure), runs.values(moves, measure)
        said = f"{what}: {much.mean():.3g} where it stays, {little.mean():.3g} where it moves"
        parts[said] = LITTLE * much - little
    return parts


LOST = 0.01
"""The least share of packets that counts as lost with complete RED."""


@claim("text.full_red", of=("1", "1/complete-red"))
def complete_red(runs: Runs) -> Parts:
    """Check that those that give way lose packets with complete RED, and none under LGC alone."""
    values, alone = (runs.values(each, m.taken_at_once) for each in ("1/complete-red", "1"))
    return {
        f"{100 * values.mean():.3g} % of what comes is taken, below 99 %": 1.0 - LOST - values,
        f"under LGC alone {100 * alone.mean():.4g} %": alone - 1.0 + 1e-9,
    }


@claim("text.bounded", of=("1", "1b", "2", "3"))
def bounded(runs: Runs) -> Parts:
    """Check that the queue stays below the buffer, and that none is lost to a full one."""
    found: Parts = {}
    for case in ("1", "1b", "2", "3"):
        most, lost = runs.values(case, m.most_of_buffer), runs.values(case, m.lost_full)
        found[f"experiment {case}: {100 * most.mean():.3g} % of the buffer at most"] = 1.0 - most
        found[f"experiment {case}: {lost.mean():.3g} packets lost"] = 0.5 - lost
    return found


@claim("text.itime_short", of=("2", "2/itime-short"))
def too_soon(runs: Runs) -> Parts:
    """Check that with a short ITime more packets of the greedy source get past the filters."""
    short, right = (100 * runs.values(each, m.share("s1")) for each in ("2/itime-short", "2"))
    return {
        f"of source 1 arrives {short.mean():.3g} %, with ITime 5 s {right.mean():.3g} %": short
        - right
    }


@claim("text.fhtime_short", of=(moved("mobile", lasting=True), "2/fhtime-short"))
def too_short(runs: Runs) -> Parts:
    """Check that with a short FHTime a source that goes on congests the node again."""
    case, right = "2/fhtime-short", moved("mobile", lasting=True)
    again, once = (runs.values(each, m.triggers) for each in (case, right))
    return {f"triggers {again.mean():.3g}, with FHTime 100 s {once.mean():.3g}": again - once}


@claim("text.incentive", of=("1", "2", "3"))
def incentive(runs: Runs) -> Parts:
    """Check that less arrives of greedy sources than of any other."""
    parts: Parts = {}
    for case in ("1", "2", "3"):
        for each in FILTERED[case]:
            more, less = (runs.values(case, m.share(*of)) for of in (OTHERS[case], (each,)))
            both = f"{100 * less.mean():.3g} % of {each}, of others {100 * more.mean():.4g} %"
            said = f"experiment {case}: {both}"
            parts[said] = more - less
    return parts


CHECKS = {
    "text.many_conns": ordering(
        *(
            between(
                f"{more} beside it, more than {less}",
                "crowd/tail/{}",
                str(more),
                str(less),
                above_permitted,
            )
            for less, more in pairwise(CROWDS)
        )
    ),
    "text.overhead": unchecked(
        "Timers and identifiers of connections are called minimal, without a number. What the"
        " filters take at the congested node is in the table on filters that move."
    ),
    "text.ttl": unchecked(
        "The simulator has no time-based TTL, the real nodes have one. The paper sets it to 10 s so"
        " that none expires."
    ),
    "table1.rani": unchecked(
        "A row in a table of architectures, nothing to measure. The nodes of `tidegated` are of its"
        " kind: a menu of services, ActiveFilter and ActiveTraceroute, and no code in packets."
    ),
}
