"""The checks of what the text says: reasons, limits, ablations, and what was run but not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.finders import Of, Side, between, ordering, plain, unchecked
from tidegate.papers.findings import Exact
from tidegate.papers.registry import claim
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
from tidegate.papers.session.measures import (
    FCT,
    FLOWS,
    admitted,
    changes,
    completed,
    epochs_to_ascent,
    jain,
    least_admitted,
    on_schedule,
    swing,
    unseen_ends,
)

if TYPE_CHECKING:
    from tidegate.papers.findings import Check
    from tidegate.papers.runs import Parts, Runs

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
    """Check what many sessions at once come to: more than packets, sent twice, unfairly."""
    flows = runs.values(NC, "open_mean")
    again = runs.values(NC, "retransmitted_share")
    fair = runs.values(CP, jain)
    unfair = runs.values(NC, jain)
    return {
        f"sessions open {np.mean(flows):,.0f} > {PIPE} packets in the pipe": flows - PIPE,
        f"more than half of what is sent is sent again ({100 * np.mean(again):.3g} %)": again - 0.5,
        f"Jain's index lower than under CP ({np.mean(unfair):.2g}, {np.mean(fair):.2g})": fair
        - unfair,
    }


@claim("text.cp_slow_start")
def cp_slow_start() -> Check:
    """Check that CP takes time to open at first."""
    first = admitted(0.0, 30.0)
    what = "admitted in the first 30 s, none > CP"
    return ordering(between(what, "static/10k-100/{}", "none", "cp", first))


@claim("text.no_worse")
def not_worse() -> Check:
    """Check completions and FCT under both schemes against none, at every load of the paper."""
    sides = []
    for cell in EVERYWHERE:
        for name, shown in SCHEMES.items():
            mine, none = f"{cell}/{name}", f"{cell}/none"
            sides.append(Side(f"flows {cell} {shown}", Of(mine, FLOWS), Of(none, FLOWS), NOT_WORSE))
            sides.append(Side(f"FCT {cell} {shown}", Of(none, FCT), Of(mine, FCT), NOT_WORSE))
    return ordering(*sides, note="Not worse: not more than 2 % worse.")


@claim("text.starvation", of=tuple(f"endless/{name}" for name in SCHEMES))
def starvation(runs: Runs) -> Parts:
    """Check that somebody is admitted in every epoch though no session ends."""
    found: Parts = {}
    for name, shown in SCHEMES.items():
        least = runs.values(f"endless/{name}", least_admitted)
        why = " (its guard lets all in until a session ends)" if name == "cp" else ""
        # at least as many as alpha_min, whole sessions
        found[f"{shown}: fewest in an epoch {np.min(least):g}{why}, alpha_min 10"] = least - 9.5
    return found


@claim("text.stateless", of=())
def stateless(_: Runs) -> Exact:
    """Count the numbers that a port keeps for its gate: the same whatever comes."""
    fields = [
        name
        for kind in (_native.Knobs, _native.Counts)
        for name in dir(kind)
        if not name.startswith("_") and not callable(getattr(kind, name))
    ]
    # with what the limiter keeps for itself 72 bytes: the core asserts it when compiled
    return Exact(f"{len(fields)} numbers a port, whatever comes", 0 < len(fields) <= 9)


@claim("text.pulse")
def pulses() -> Check:
    """Check that CP is not worse than no control under pulses of load."""
    cells = [
        "arrivals/pulses",
        *(f"{what}/{rate}/pulses" for what in ("size", "capacity") for rate in ARRIVALS),
    ]
    sides = []
    for cell in cells:
        mine, none = f"{cell}/cp", f"{cell}/none"
        sides.append(
            Side(f"flows {cell}: CP not below none", Of(mine, FLOWS), Of(none, FLOWS), NOT_WORSE)
        )
        sides.append(
            Side(f"FCT {cell}: CP not above none", Of(none, FCT), Of(mine, FCT), NOT_WORSE)
        )
    return ordering(*sides, note="Up to 2 % counts as no difference.")


RATES = ("optimum/10k-1000", "optimum/10k-300", "optimum/10k-600")


@claim("text.input_independence", of=RATES)
def independence(runs: Runs) -> Parts:
    """Check that the optimum of 1000 arrivals/s serves 300 and 600/s about as well as theirs."""
    rate, _ = runs.best(RATES[0])
    found: Parts = {}
    for name in RATES[1:]:
        curve = dict(runs.curve(name))
        own, best = runs.best(name)
        near = min(curve, key=lambda each: abs(each - rate))
        most = runs.values(best, FLOWS)
        there = f"at {near:g} {curve[near]:.0f}, at its own {own:g} {np.mean(most):.0f}"
        text = f"{name[12:]}/s: {there}: within 5 %"
        found[text] = curve[near] - 0.95 * most
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
    share = runs.values("admit/65", on_schedule)
    text = f"waits are 0, 6, 18, 42, 90, 186 s in over 95 % ({plain(100 * share)} %)"
    return {text: share - 0.95}


@claim("text.skew", of=tuple(f"paths/{rate}/fin5" for rate in ARRIVALS))
def skew(runs: Runs) -> Parts:
    """Check that the error of the counts does not grow where some FINs are not seen."""
    found: Parts = {}
    for rate in ARRIVALS:
        case = f"paths/{rate}/fin5"
        early, late = (
            runs.values(case, unseen_ends(*span)) for span in ((50.0, 175.0), (175.0, 300.0))
        )
        grown = np.abs(late) - np.abs(early)
        means = f"{plain(100 * early)} %, later {plain(100 * late)} %"
        text = f"{rate}/s, 5 % of the FINs unseen: error {means}"
        found[text] = 0.02 - grown
    return found


@claim("text.ipsec_share")
def encrypted() -> Check:
    """Say why the share of encrypted packets is not checked."""
    return unchecked(
        "A share of the Internet's packets in 2000: nothing that a simulation could measure."
    )


@claim("text.cp_overall", of=tuple(f"{cell}/{name}" for cell in EVERYWHERE for name in SCHEMES))
def overall(runs: Runs) -> Parts:
    """Check that CP beats GSS+GA in FCT everywhere, and in completions in most cells."""
    times = [
        runs.values(f"{cell}/cp", FCT) / runs.values(f"{cell}/gssga", FCT) for cell in EVERYWHERE
    ]
    flows = [
        runs.values(f"{cell}/cp", FLOWS) / runs.values(f"{cell}/gssga", FLOWS)
        for cell in EVERYWHERE
    ]
    shorter, more = np.mean(times, axis=0), np.mean(flows, axis=0)
    less = f"on average of {len(EVERYWHERE)} loads {plain(shorter)} of that under GSS+GA"
    return {
        f"FCT under CP shorter: {less}": 1.0 - shorter,
        f"completions more: {plain(more)} of those under GSS+GA": more - 1.0,
    }


@claim("capacity_up.order")
def capacity_up() -> Check:
    """Check that no fewer complete when the capacity rises, and that CP follows."""
    sides = []
    for rate in ARRIVALS:
        for load in LOADS:
            for name, shown in SCHEMES.items():
                case = f"capacity/{rate}/up-{load}/{{}}"
                what = f"flows {rate}/s {load}: {shown} not below none"
                sides.append(between(what, case, name, "none", FLOWS, NOT_WORSE))
    for load in LOADS:
        case = f"capacity/1000/up-{load}/cp"
        late, early = (Of(case, admitted(*span)) for span in ((250.0, 300.0), (20.0, 100.0)))
        sides.append(Side(f"admitted at last {load}: CP follows", late, early))
    return ordering(*sides, note="Not below: not more than 2 % fewer.")


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
    """Check that a tuned threshold is well below the optimum elsewhere, and the searches not."""
    found: Parts = {}
    for law, values in TRIED.items():
        most = {value: runs.mean(threshold(law, value).key, FLOWS) for value in values}
        if max(most, key=lambda value: most[value]) != TUNED[law]:
            found[f"{law} is tuned to {TUNED[law]:g}, though another is better: {most}"] = [
                -1.0
            ] * runs.seeds
    for load, search in OPTIMA.items():
        best = runs.values(runs.best(f"optimum/{search}")[1], FLOWS)
        for law, value in TUNED.items():
            mine = runs.values(threshold(law, value, load).key, FLOWS)
            means = f"({np.mean(mine):.0f} of {np.mean(best):.0f})"
            text = f"{load}: {law} more than 10 % below the optimum {means}"
            found[text] = (1 - ALMOST) * best - mine
        for name, shown in SCHEMES.items():
            mine = runs.values(f"other/{load}/{name}", FLOWS)
            text = f"{load}: {shown} not ({np.mean(mine):.0f})"
            found[text] = mine - (1 - ALMOST) * best
    return found


# Each part taken away


@claim("text.gss_alone")
def gss_alone() -> Check:
    """Check that without gradient ascent the allowance changes more."""
    alone, with_ga = (Of(case, changes(150.0, 300.0)) for case in ("ablation/gss-alone", GSS))
    return ordering(Side("change of the allowance an epoch, GSS alone > GSS+GA", alone, with_ga))


WITHOUT_WAY_BACK = {
    "ablation/up-load3-no-way-back": "capacity/1000/up-load3/gssga",
    "ablation/down-load3-no-way-back": "capacity/1000/down-load3/gssga",
    "ablation/size-no-way-back": "size/1000/load3/gssga",
}


@claim("text.ga_alone", of=(*WITHOUT_WAY_BACK.values(), *WITHOUT_WAY_BACK))
def ga_alone(runs: Runs) -> Parts:
    """Check that without the way back to the search less completes after a change."""
    after = completed(150.0, 300.0)
    found: Parts = {}
    for without, case in WITHOUT_WAY_BACK.items():
        back, stays = runs.values(case, after), runs.values(without, after)
        means = f"({plain(back)}, {plain(stays)}/s)"
        text = f"{without[9:]}: completed after it, with the way back > without {means}"
        found[text] = back - stays
    return found


@claim("text.cp_smoothing")
def smoothing() -> Check:
    """Check that without smoothing CP's allowance swings more."""
    bare, smooth = (Of(case, swing(50.0, 300.0)) for case in ("ablation/no-smoothing", CP))
    return ordering(Side("swing of the allowance, without smoothing > with", bare, smooth))


@claim("text.linear_range", of=("range/5/gssga", "range/20/gssga"))
def linear(runs: Runs) -> Parts:
    """Check that the search takes as many times as long as the capacity is greater."""
    small, large = (
        runs.values("range/5/gssga", epochs_to_ascent),
        runs.values("range/20/gssga", epochs_to_ascent),
    )
    text = f"epochs until the climb, 20 over 5 Mbit/s, near 4 ({plain(small)}, {plain(large)})"
    return {text: large - 0.75 * 4 * small}
