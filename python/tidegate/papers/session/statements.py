"""The checks of what the text says: reasons, limits, ablations, and what was run but not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.finders import Of, Side, between, exact, ordering, parts, plain, unchecked
from tidegate.papers.session.cases import ARRIVALS, LOADS, OTHER_LOADS, TRIED, TUNED, threshold
from tidegate.papers.session.measures import (
    admitted,
    changes,
    completed,
    epochs_to_ascent,
    least_admitted,
    on_schedule,
    swing,
    unseen_ends,
)
from tidegate.papers.session.shapes import ALMOST, CP, FLOWS, GSS, NC, NOT_WORSE, SCHEMES

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs
    from tidegate.papers.study import Check
    from tidegate.results.record import Record

    Parts = dict[str, np.ndarray | list[float]]

FCT = "fct_mean_s"
PIPE = 217 + 434
"""Packets that the buffer and the round trip at 10 Mbit/s hold."""
OPTIMA = {"30k": "30k-1000", "300": "10k-300", "5M": "5M", "100": "10k-100"}
"""The load of `OTHER_LOADS`, and the search for its optimum."""


def _many_flows() -> Check:
    def find(runs: Runs) -> Parts:
        flows = runs.values(NC, "open_mean")
        again = runs.values(NC, "retransmitted_share")
        fair = runs.values(CP, _jain)
        unfair = runs.values(NC, _jain)
        return {
            f"sessions open {np.mean(flows):,.0f} > {PIPE} packets in the pipe": flows - PIPE,
            f"more than half of what is sent is sent again ({100 * np.mean(again):.3g} %)": again
            - 0.5,
            f"Jain's index lower than under CP ({np.mean(unfair):.2g}, {np.mean(fair):.2g})": fair
            - unfair,
        }

    return parts((NC, CP), find)


def _jain(record: Record) -> float:
    return float(record.summary["jain"])


def _not_worse() -> Check:
    """Check completions and FCT under both schemes against none, at every load of the paper."""
    cells = [f"static/{size}k-{rate}" for size in (10, 30) for rate in ARRIVALS]
    cells += [f"arrivals/{load}" for load in LOADS]
    cells += [f"size/{rate}/{load}" for rate in ARRIVALS for load in LOADS]
    cells += [f"capacity/{rate}/down-{load}" for rate in ARRIVALS for load in LOADS]
    sides = []
    for cell in cells:
        for name, shown in SCHEMES.items():
            mine, none = f"{cell}/{name}", f"{cell}/none"
            sides.append(Side(f"flows {cell} {shown}", Of(mine, FLOWS), Of(none, FLOWS), NOT_WORSE))
            sides.append(Side(f"FCT {cell} {shown}", Of(none, FCT), Of(mine, FCT), NOT_WORSE))
    return ordering(*sides, note="Not worse: not more than 2 % worse.")


def _starvation() -> Check:
    def find(runs: Runs) -> Parts:
        found: Parts = {}
        for name, shown in SCHEMES.items():
            least = runs.values(f"endless/{name}", least_admitted)
            why = " (its guard lets all in until a session ends)" if name == "cp" else ""
            # at least as many as alpha_min, whole sessions
            found[f"{shown}: fewest in an epoch {np.min(least):g}{why}, alpha_min 10"] = least - 9.5
        return found

    return parts(tuple(f"endless/{name}" for name in SCHEMES), find)


def _state() -> Check:
    def find() -> tuple[str, bool]:
        fields = [
            name
            for kind in (_native.Knobs, _native.Counts)
            for name in dir(kind)
            if not name.startswith("_") and not callable(getattr(kind, name))
        ]
        # with what the limiter keeps for itself 72 bytes: the core asserts it when compiled
        return f"{len(fields)} numbers a port, whatever comes", 0 < len(fields) <= 9

    return exact(find)


def _pulses() -> Check:
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


def _independence() -> Check:
    """Check that the optimum of 1000 arrivals/s serves 300 and 600/s about as well as theirs."""
    searches = ("optimum/10k-1000", "optimum/10k-300", "optimum/10k-600")

    def find(runs: Runs) -> Parts:
        rate, _ = runs.best(searches[0])
        found: Parts = {}
        for name in searches[1:]:
            curve = dict(runs.curve(name))
            own, best = runs.best(name)
            near = min(curve, key=lambda each: abs(each - rate))
            most = runs.values(best, FLOWS)
            there = f"at {near:g} {curve[near]:.0f}, at its own {own:g} {np.mean(most):.0f}"
            text = f"{name[12:]}/s: {there}: within 5 %"
            found[text] = curve[near] - 0.95 * most
        return found

    return parts(searches, find)


def _less_capacity() -> Check:
    """Check that a smaller capacity has a smaller optimum; UDP takes from it like less of it."""
    order = ("5M", "10k-1000", "20M")
    searches = (*(f"optimum/{name}" for name in order), "optimum/udp")

    def find(runs: Runs) -> Parts:
        best = {name: _best_per_seed(runs, name) for name in searches}
        shown = {name: runs.best(name)[0] for name in searches}
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

    return parts(searches, find)


def _best_per_seed(runs: Runs, search: str) -> np.ndarray:
    """Return the best rate of the fine grid, for each seed."""
    grid = runs.fine(search)
    completions = np.array([runs.values(case, "completed") for case in grid.values()])
    best: np.ndarray = np.array(list(grid))[np.argmax(completions, axis=0)]
    return best


def _skew() -> Check:
    def find(runs: Runs) -> Parts:
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

    return parts(tuple(f"paths/{rate}/fin5" for rate in ARRIVALS), find)


def _capacity_up() -> Check:
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


def _thresholds() -> Check:
    """Check that a tuned threshold is well below the optimum elsewhere, and the searches not."""
    tuning = tuple(threshold(law, value).key for law, values in TRIED.items() for value in values)
    there = tuple(
        threshold(law, value, load).key for law, value in TUNED.items() for load in OTHER_LOADS
    )
    searching = tuple(f"other/{load}/{name}" for load in OTHER_LOADS for name in SCHEMES)
    searches = tuple(f"optimum/{name}" for name in OPTIMA.values())

    def find(runs: Runs) -> Parts:
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

    return parts((*tuning, *there, *searching, *searches), find)


def _ablations() -> dict[str, Check]:
    alone, with_ga = Of("ablation/gss-alone", changes(150.0, 300.0)), Of(GSS, changes(150.0, 300.0))
    bare, smooth = Of("ablation/no-smoothing", swing(50.0, 300.0)), Of(CP, swing(50.0, 300.0))

    def slow(runs: Runs) -> Parts:
        after = completed(150.0, 300.0)
        found: Parts = {}
        for case, without in (
            ("capacity/1000/up-load3/gssga", "ablation/up-load3-no-way-back"),
            ("capacity/1000/down-load3/gssga", "ablation/down-load3-no-way-back"),
            ("size/1000/load3/gssga", "ablation/size-no-way-back"),
        ):
            back, stays = runs.values(case, after), runs.values(without, after)
            means = f"({plain(back)}, {plain(stays)}/s)"
            text = f"{without[9:]}: completed after it, with the way back > without {means}"
            found[text] = back - stays
        return found

    def linear(runs: Runs) -> Parts:
        small, large = (
            runs.values("range/5/gssga", epochs_to_ascent),
            runs.values("range/20/gssga", epochs_to_ascent),
        )
        text = f"epochs until the climb, 20 over 5 Mbit/s, near 4 ({plain(small)}, {plain(large)})"
        return {text: large - 0.75 * 4 * small}

    ways = (
        "capacity/1000/up-load3/gssga",
        "capacity/1000/down-load3/gssga",
        "size/1000/load3/gssga",
        "ablation/up-load3-no-way-back",
        "ablation/down-load3-no-way-back",
        "ablation/size-no-way-back",
    )
    return {
        "text.gss_alone": ordering(
            Side("change of the allowance an epoch, GSS alone > GSS+GA", alone, with_ga)
        ),
        "text.ga_alone": parts(ways, slow),
        "text.cp_smoothing": ordering(
            Side("swing of the allowance, without smoothing > with", bare, smooth)
        ),
        "text.linear_range": parts(("range/5/gssga", "range/20/gssga"), linear),
    }


def _overall() -> Check:
    """Check that CP beats GSS+GA in FCT everywhere, and in completions in most cells."""
    cells = [f"static/{size}k-{rate}" for size in (10, 30) for rate in ARRIVALS]
    cells += [f"arrivals/{load}" for load in LOADS]
    cells += [
        f"{what}/{rate}/{way}{load}"
        for what, way in (("size", ""), ("capacity", "down-"))
        for rate in ARRIVALS
        for load in LOADS
    ]
    cases = tuple(f"{cell}/{name}" for cell in cells for name in SCHEMES)

    def find(runs: Runs) -> Parts:
        times = [
            runs.values(f"{cell}/cp", FCT) / runs.values(f"{cell}/gssga", FCT) for cell in cells
        ]
        flows = [
            runs.values(f"{cell}/cp", FLOWS) / runs.values(f"{cell}/gssga", FLOWS) for cell in cells
        ]
        shorter, more = np.mean(times, axis=0), np.mean(flows, axis=0)
        less = f"on average of {len(cells)} loads {plain(shorter)} of that under GSS+GA"
        return {
            f"FCT under CP shorter: {less}": 1.0 - shorter,
            f"completions more: {plain(more)} of those under GSS+GA": more - 1.0,
        }

    return parts(cases, find)


def checks() -> dict[str, Check]:
    """Return the checks of statements of the text, by the short id of the claim."""
    first = admitted(0.0, 30.0)

    def schedule(runs: Runs) -> Parts:
        share = runs.values("admit/65", on_schedule)
        return {
            f"waits are 0, 6, 18, 42, 90, 186 s in over 95 % ({plain(100 * share)} %)": share - 0.95
        }

    return _ablations() | {
        "text.qiu": _many_flows(),
        "text.cp_slow_start": ordering(
            between(
                "admitted in the first 30 s, none > CP", "static/10k-100/{}", "none", "cp", first
            )
        ),
        "text.no_worse": _not_worse(),
        "text.starvation": _starvation(),
        "text.stateless": _state(),
        "text.pulse": _pulses(),
        "text.input_independence": _independence(),
        "text.optimal_vs_capacity": _less_capacity(),
        "text.syn_backoff": parts(("admit/65",), schedule),
        "text.skew": _skew(),
        "text.ipsec_share": unchecked(
            "A share of the Internet's packets in 2000: nothing that a simulation could measure."
        ),
        "text.cp_overall": _overall(),
        "capacity_up.order": _capacity_up(),
        "text.threshold_degrades": _thresholds(),
    }
