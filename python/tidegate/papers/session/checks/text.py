"""The checks of what the text says: reasons, limits, ablations, and what was run but not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.check_builders import Greater, Value, between, ordering, plain, unchecked
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import alike
from tidegate.papers.registry import claim
from tidegate.papers.session import measures as m
from tidegate.papers.session.cases import (
    ALMOST,
    ARRIVALS,
    CP,
    GSS,
    LOADS,
    NC,
    NOT_WORSE,
    OPTIMA,
    OTHER_LOADS,
    SCHEMES,
    TRIED,
    TUNED,
    threshold,
)

if TYPE_CHECKING:
    from tidegate.papers.case import Case
    from tidegate.papers.runs import Parts, Runs

CAPACITY_BPS = 10e6
PIPE = 217 + 434
"""Packets that the buffer and the round trip at 10 Mbit/s hold."""
STATIC = tuple(f"static/{size}k-{rate}" for size in (10, 30) for rate in ARRIVALS)
CHANGING = (
    *(f"arrivals/{load}" for load in LOADS),
    *(f"size/{rate}/{load}" for rate in ARRIVALS for load in LOADS),
    *(f"capacity/{rate}/down-{load}" for rate in ARRIVALS for load in LOADS),
)
EVERYWHERE = (*STATIC, *CHANGING)
"""Every load of the paper."""


@claim("text.qiu", of=(NC, CP))
def many_flows(runs: Runs) -> Parts:
    """Check the effects of many sessions at once: losses, retransmissions, unfairness."""
    flows = runs.values(NC, "open_mean")
    again = runs.values(NC, "retransmitted_share")
    fair = runs.values(CP, m.jain)
    unfair = runs.values(NC, m.jain)
    return {
        f"sessions open {np.mean(flows):,.0f} > {PIPE} packets in the pipe": flows - PIPE,
        f"more than half of what is sent is sent again ({100 * np.mean(again):.3g} %)": again - 0.5,
        f"Jain's index lower than under CP ({np.mean(unfair):.2g}, {np.mean(fair):.2g})": fair
        - unfair,
    }


@claim("text.fair_share", of=(NC,))
def below_fair_share(runs: Runs) -> Parts:
    """Check that without control sessions get less than their fair share of the link."""
    share = CAPACITY_BPS / runs.values(NC, "open_mean")
    got = runs.values(NC, "goodput_mean_bps")
    return {
        f"an equal share of 10 Mbit/s, {plain(share)} bit/s, above the mean goodput of those that"
        f" complete, {plain(got)} bit/s": share - got
    }


@claim("text.gss_unstable", of=(GSS, CP))
def unstable(runs: Runs) -> Parts:
    """Check that the allowance swings more under GSS+GA than under CP; say where it settles."""
    span, late = m.swing(50.0, 250.0), m.admitted(150.0, 250.0)
    more, less = runs.values(GSS, span), runs.values(CP, span)
    ends = (
        f"{shown} {', '.join(f'{each:.3g}' for each in runs.values(case, late))}"
        for shown, case in (("GSS+GA", GSS), ("CP", CP))
    )
    last = f"admitted a second in the last 100 s, by seed: {'; '.join(ends)}"
    means = f"({plain(more)} to {plain(less)}; {last})"
    return {f"swing of the allowance: GSS+GA > CP {means}": more - less}


@claim("text.starvation", of=tuple(f"endless/{name}" for name in SCHEMES))
def starvation(runs: Runs) -> Parts:
    """Check that somebody is admitted in every epoch though no session ends, guards off."""
    found: Parts = {}
    for name, shown in SCHEMES.items():
        least = runs.values(f"endless/{name}", m.least_admitted)
        # at least as many as alpha_min, whole sessions
        found[f"{shown}: fewest in an epoch {np.min(least):g}, alpha_min 10"] = least - 9.5
    return found


@claim("text.stateless", of=())
def stateless(runs: Runs) -> Exact:
    """Check that the gate does not know flows: a crowd of them is treated as one flow would be."""
    apart = sum(runs.effective.treated_differently(case, "bottleneck") for case in (GSS, CP))
    fields = [
        name
        for kind in (_native.Knobs, _native.Counts)
        for name in dir(kind)
        if not name.startswith("_") and not callable(getattr(kind, name))
    ]
    # with what the limiter keeps for itself 72 bytes: the core asserts it when compiled
    text = f"{len(fields)} numbers a port; under GSS+GA and CP {alike(apart)}"
    return Exact(text, apart == 0 and 0 < len(fields) <= 9)


RATES = ("optimum/10k-1000", "optimum/10k-300", "optimum/10k-600")


@claim("text.input_independence", of=RATES)
def independence(runs: Runs) -> Parts:
    """Check that the optimum of 1000 arrivals/s serves fewer about as well as their own.

    Where fewer arrive than it would admit it refuses nobody, and nothing is seen.
    """
    rate, _ = runs.best(RATES[0])
    found: Parts = {}
    for name, arrivals in zip(RATES[1:], (300.0, 600.0), strict=True):
        if arrivals <= rate and name != RATES[-1]:
            continue
        curve = dict(runs.curve(name))
        own, best = runs.best(name)
        near = min(curve, key=lambda each: abs(each - rate))
        most = runs.values(best, m.FLOWS)
        there = f"at {near:g} {curve[near]:.0f}, at its own {own:g} {np.mean(most):.0f}"
        text = f"{name[12:]}/s: {there}: within 5 %"
        found[text] = curve[near] - 0.95 * most
        # a rate that admits all is no control, and equals any other such rate
        text = f"{name[12:]}/s: it refuses some ({near:g} of {arrivals:g}/s)"
        found[text] = np.full(runs.seeds, arrivals - near)
    return found


CAPACITIES = ("5M", "10k-1000", "20M")
BY_CAPACITY = (*(f"optimum/{name}" for name in CAPACITIES), "optimum/udp")


@claim("text.optimal_vs_capacity", of=BY_CAPACITY)
def less_capacity(runs: Runs) -> Parts:
    """Check that a smaller capacity has a smaller optimum; UDP takes from it like less of it."""
    best = {name: _best_per_seed(runs, name) for name in BY_CAPACITY}
    shown = {name: runs.best(name)[0] for name in BY_CAPACITY}
    pairs = [
        ("optimum/5M", "optimum/10k-1000"),
        ("optimum/10k-1000", "optimum/20M"),
        ("optimum/udp", "optimum/10k-1000"),
    ]
    names = {
        "optimum/5M": "5 Mbit/s",
        "optimum/10k-1000": "10 Mbit/s",
        "optimum/20M": "20 Mbit/s",
        "optimum/udp": "10 Mbit/s with 5 Mbit/s of UDP",
    }
    return {
        f"{names[low]} ({shown[low]:g}/s) < {names[high]} ({shown[high]:g}/s)": best[high]
        - best[low]
        for low, high in pairs
    }


def _best_per_seed(runs: Runs, search: str) -> np.ndarray:
    """Return the best rate of the fine grid, for each seed."""
    grid = runs.fine(search)
    completions = np.array([runs.values(case, "completed") for case in grid.values()])
    best: np.ndarray = np.array(list(grid))[np.argmax(completions, axis=0)]
    return best


@claim("text.syn_backoff", of=("admit/65",))
def schedule(runs: Runs) -> Parts:
    """Check that sessions wait as long as SYN retries take."""
    share = runs.values("admit/65", m.on_schedule)
    text = f"waits are 0, 6, 18, 42, 90, 186 s in over 95 % ({plain(100 * share)} %)"
    return {text: share - 0.95}


@claim("text.skew", of=tuple(f"paths/{rate}/fin5" for rate in ARRIVALS))
def skew(runs: Runs) -> Parts:
    """Check that the error of the counts does not grow where some FINs are not seen."""
    found: Parts = {}
    for rate in ARRIVALS:
        case = f"paths/{rate}/fin5"
        early, late = (
            runs.values(case, m.unseen_ends(*span)) for span in ((25.0, 100.0), (175.0, 250.0))
        )
        grown = late - early
        means = f"{plain(100 * early)} %, later {plain(100 * late)} %"
        text = f"{rate}/s, 5 % of the FINs unseen: error {means}"
        found[text] = 0.01 - grown
    return found


@claim("text.cp_overall", of=tuple(f"{cell}/{name}" for cell in EVERYWHERE for name in SCHEMES))
def overall(runs: Runs) -> Parts:
    """Check that CP beats GSS+GA in FCT everywhere, and in completions in most cells."""
    times = [
        runs.values(f"{cell}/cp", m.FCT) / runs.values(f"{cell}/gssga", m.FCT)
        for cell in EVERYWHERE
    ]
    flows = [
        runs.values(f"{cell}/cp", m.FLOWS) / runs.values(f"{cell}/gssga", m.FLOWS)
        for cell in EVERYWHERE
    ]
    shorter, more = np.mean(times, axis=0), np.mean(flows, axis=0)
    less = f"on average of {len(EVERYWHERE)} loads {plain(shorter)} of that under GSS+GA"
    return {
        f"FCT under CP shorter: {less}": 1.0 - shorter,
        f"completions more: {plain(more)} of those under GSS+GA": more - 1.0,
    }


@claim(
    "text.threshold_degrades",
    of=(
        *(threshold(law, value).key for law, values in TRIED.items() for value in values),
        *(threshold(law, value, load).key for law, value in TUNED.items() for load in OTHER_LOADS),
        *(f"other/{load}/{name}" for load in OTHER_LOADS for name in SCHEMES),
        *(f"optimum/{name}" for name in OPTIMA.values()),
    ),
)
def thresholds(runs: Runs) -> Parts:
    """Check that each tuned threshold fails at some other load, and the searches at none."""
    found: Parts = {}
    for law, values in TRIED.items():
        most = {value: runs.mean(threshold(law, value).key, m.FLOWS) for value in values}
        if max(most, key=lambda value: most[value]) != TUNED[law]:
            found[f"{law} is tuned to {TUNED[law]:g}, though another is better: {most}"] = [
                -1.0
            ] * runs.seeds
    best = {load: runs.best(f"optimum/{search}")[1] for load, search in OPTIMA.items()}
    for law, value in TUNED.items():
        cells = {load: threshold(law, value, load).key for load in OPTIMA}
        few, slow = _worst(runs, cells, best)
        text = f"{law}: somewhere under 90 % of the optimum's completions, or half as fast as CP"
        found[f"{text} ({plain(few)}, {plain(slow)} times)"] = np.maximum(0.9 - few, slow - 2.0)
    for name, shown in SCHEMES.items():
        few, _ = _worst(runs, {load: f"other/{load}/{name}" for load in OPTIMA}, best)
        found[f"{shown}: nowhere under 90 % ({plain(few)})"] = few - (1 - ALMOST)
    return found


def _worst(
    runs: Runs, cells: dict[str, str], best: dict[str, Case]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least share of the optimum's completions, and the longest FCT over CP's."""
    few = [runs.values(cells[load], m.FLOWS) / runs.values(best[load], m.FLOWS) for load in OPTIMA]
    slow = [
        runs.values(cells[load], m.FCT) / runs.values(f"other/{load}/cp", m.FCT) for load in OPTIMA
    ]
    return np.min(few, axis=0), np.max(slow, axis=0)


# Each part taken away


@claim("text.gss_alone", of=("ablation/gss-alone", GSS))
def gss_alone(runs: Runs) -> Parts:
    """Check that with a small bracket golden sections change more from epoch to epoch than GA.

    Over the ten epochs from where the bracket is below the threshold: until
    then both searches are the same.
    """
    alone, with_ga = runs.records("ablation/gss-alone"), runs.records(GSS)
    found = []
    for other, record in zip(alone, with_ga, strict=True):
        start = m.searched_for(record)
        span = m.changes(start, start + 20.0)
        found.append((span(other), span(record)))
    golden, climbing = np.array(found).T
    means = f"({plain(golden)}, {plain(climbing)})"
    return {f"change an epoch once the bracket is small, GSS > GA {means}": golden - climbing}


WITHOUT_WAY_BACK = {
    "ablation/up-load3-no-way-back": "capacity/1000/up-load3/gssga",
    "ablation/down-load3-no-way-back": "capacity/1000/down-load3/gssga",
    "ablation/size-no-way-back": "size/1000/load3/gssga",
}


@claim("text.ga_alone", of=(*WITHOUT_WAY_BACK.values(), *WITHOUT_WAY_BACK))
def ga_alone(runs: Runs) -> Parts:
    """Check that without the way back to the search it takes longer to the new peak."""
    until = m.settled(150.0)
    found: Parts = {}
    for without, case in WITHOUT_WAY_BACK.items():
        back, stays = runs.values(case, until), runs.values(without, until)
        means = f"({plain(stays)}, {plain(back)} s)"
        text = f"{without[9:]}: until the allowance settles, without the way back > with {means}"
        found[text] = stays - back
    return found


@claim("text.linear_range", of=("range/5/gssga", "range/20/gssga"))
def linear(runs: Runs) -> Parts:
    """Check that the search takes as many times as long as the capacity is greater."""
    small, large = (
        runs.values("range/5/gssga", m.epochs_to_ascent),
        runs.values("range/20/gssga", m.epochs_to_ascent),
    )
    text = f"epochs until the climb, 20 over 5 Mbit/s, near 4 ({plain(small)}, {plain(large)})"
    return {text: large - 0.75 * 4 * small}


PULSES = (
    "arrivals/pulses",
    *(f"{what}/{rate}/pulses" for what in ("size", "capacity") for rate in ARRIVALS),
)


def _not_worse(
    flows: str, times: str, cell: str, control: str, margin: float
) -> tuple[Greater, ...]:
    """Return that a control is no worse than none, in completions and in FCT."""
    return (
        between(flows, f"{cell}/{{}}", control, "none", m.FLOWS, margin),
        between(times, f"{cell}/{{}}", "none", control, m.FCT, margin),
    )


CHECKS = {
    "text.phantom": unchecked(
        "Not built: a gate that measures the bandwidth of a phantom TCP connection. Of the older"
        " gates by threshold one by occupancy and one by loss rate are run."
    ),
    "text.quench": unchecked(
        "Not built: end hosts ignore Source Quench (RFC 6633). Dropping and RST are run."
    ),
    "text.ipsec_share": unchecked(
        "A share of the Internet's packets in 2000: nothing that a simulation could measure."
    ),
    "text.fair_sizes": ordering(
        *(
            between(
                f"mean size completed [B]: {shown} > none",
                "static/10k-1000/{}",
                name,
                "none",
                "size_mean_bytes",
            )
            for name, shown in SCHEMES.items()
        )
    ),
    "text.cp_slow_start": ordering(
        between(
            "admitted in the first 30 s, none > CP",
            "static/10k-100/{}",
            "none",
            "cp",
            m.admitted(0.0, 30.0),
        )
    ),
    "text.no_worse": ordering(
        *(
            _not_worse(f"flows {cell} {shown}", f"FCT {cell} {shown}", cell, name, NOT_WORSE)
            for cell in EVERYWHERE
            for name, shown in SCHEMES.items()
        ),
        note="Not worse: not more than 5 % worse.",
    ),
    "text.pulse": ordering(
        *(
            _not_worse(
                f"flows {cell}: CP not below none",
                f"FCT {cell}: CP not above none",
                cell,
                "cp",
                ALMOST,
            )
            for cell in PULSES
        ),
        note="Fairly robust: not more than 10 % worse than no control.",
    ),
    "text.cp_smoothing": ordering(
        Greater(
            "swing of the allowance, without smoothing > with",
            Value("ablation/no-smoothing", m.swing(50.0, 250.0)),
            Value(CP, m.swing(50.0, 250.0)),
        )
    ),
}
