"""The checks of Figures 2 to 9: optima, orderings, and the shape of time lines."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.finders import Of, Side, between, close, number, ordering, parts, plain
from tidegate.papers.session.cases import ARRIVALS, LOADS, RATES
from tidegate.papers.session.measures import admitted, changes, completed, gap, short_share, spikes
from tidegate.papers.study import Check
from tidegate.papers.verdicts import Exact, Numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.runs import Floats, Runs
    from tidegate.papers.study import Study
    from tidegate.papers.verdicts import Finding

FLOWS, RATE = "completed", "completed_per_s"
NC, GSS, CP = (f"static/10k-1000/{name}" for name in ("none", "gssga", "cp"))
OPTIMUM = "optimum/10k-1000"
SWEEP = (*(f"admit/{rate}" for rate in RATES), OPTIMUM)
NOT_WORSE = 0.02
"""Up to so much less is not worse: less than a bar chart of the paper can show."""
ALMOST = 0.10
"""Up to so much less is almost as much."""
NEIGHBOUR = 100.0
"""Admit rates closer to the peak than this are not told apart from it, sessions/s."""
CELLS = tuple(f"{size}k-{rate}" for size in (10, 30) for rate in ARRIVALS)
SCHEMES = {"gssga": "GSS+GA", "cp": "CP"}


def curve(runs: Runs) -> dict[float, Floats]:
    """Return the completions per second at every admit rate with all seeds."""
    found = {float(rate): runs.values(f"admit/{rate}", RATE) for rate in RATES}
    return found | {rate: runs.values(case, RATE) for rate, case in runs.fine(OPTIMUM).items()}


def _peak(runs: Runs) -> tuple[float, Floats]:
    """Return the admit rate with the most completions on average, and its completions."""
    found = curve(runs)
    best = max(found, key=lambda rate: float(np.mean(found[rate])))
    return best, found[best]


def _figure2() -> dict[str, Check]:
    def peak_admit(runs: Runs) -> Finding:
        found = curve(runs)
        rates = np.array(list(found))
        best = rates[np.argmax(np.array(list(found.values())), axis=0)]
        span = _within(found, 0.95)
        note = f"The curve is flat: from {span[0]:g} to {span[1]:g}/s it is within 5 % of its peak."
        return Numbers(tuple(map(float, best)), note=note)

    def lost(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        share = runs.values(NC, RATE) / _peak(runs)[1]
        return {f"without control under half of the most ({np.mean(share):.3g})": 0.5 - share}

    def unimodal(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        best, most = _peak(runs)
        found = curve(runs) | {best: most, 1e6: runs.values(NC, RATE)}
        # neighbours of the peak differ by less than the seeds do
        rates = (65.0, 100.0, 150.0, 250.0, 400.0, 600.0, 1000.0, 1e6)
        grid = [rate for rate in rates if abs(rate - best) >= NEIGHBOUR]
        up = [*(rate for rate in grid if rate < best), best]
        down = [best, *(rate for rate in grid if rate > best)]
        steps = list(pairwise(up))
        falls = [(low, high) for high, low in pairwise(down)]
        name = {1e6: "no control"}
        return {
            f"{name.get(high, f'{high:g}')} > {name.get(low, f'{low:g}')}": found[high] - found[low]
            for low, high in [*steps, *falls]
        }

    def above(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        best, most = _peak(runs)
        return {f"admit {best:g} > complete {np.mean(most):.4g}": best - most}

    def plateau(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        found, (_, most) = curve(runs), _peak(runs)
        kept = {rate: each for rate, each in found.items() if np.mean(each) >= 0.98 * rate}
        rate = max(kept)
        text = f"most {plain(most)}, with as many admitted {plain(kept[rate])}: within 10 %"
        return {text: kept[rate] - (1 - ALMOST) * most}

    return {
        "fig2.peak_rate": Check(SWEEP, lambda runs: Numbers(tuple(_peak(runs)[1]))),
        "fig2.peak_admit": Check(SWEEP, peak_admit),
        "fig2.nc_lt_half": parts((*SWEEP, NC), lost),
        "fig2.unimodal": parts((*SWEEP, NC), unimodal),
        "fig2.identity_low": parts(("admit/65", "admit/100"), _identity),
        "fig2.peak_above_completion": parts(SWEEP, above),
        "fig2.plateau": parts(SWEEP, plateau),
    }


def _within(found: dict[float, Floats], share: float) -> tuple[float, float]:
    most = max(float(np.mean(each)) for each in found.values())
    near = [rate for rate, each in found.items() if np.mean(each) >= share * most]
    return min(near), max(near)


def _identity(runs: Runs) -> dict[str, np.ndarray | list[float]]:
    found: dict[str, np.ndarray | list[float]] = {}
    for rate in (65, 100):
        off = np.abs(runs.values(f"admit/{rate}", RATE) - rate) / rate
        found[f"at {rate}/s within 3 % ({100 * np.mean(off):.2g} %)"] = 0.03 - off
    return found


def _figure3() -> dict[str, Check]:
    def ratio17(runs: Runs) -> Finding:
        none = runs.values("static/30k-1000/none", FLOWS)
        both = {name: runs.values(f"static/30k-1000/{name}", FLOWS) / none for name in SCHEMES}
        note = ", ".join(f"{SCHEMES[name]} {np.mean(each):.3g}" for name, each in both.items())
        # for both: the one that is further from 17 is held to it
        worst = max(both.values(), key=lambda each: abs(float(np.mean(each)) - 17.0))
        return Numbers(tuple(worst), 17.0, f"{note}.")

    def near(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        found: dict[str, np.ndarray | list[float]] = {}
        for cell in CELLS:
            rate, best = runs.best(f"optimum/{cell}")
            most = runs.values(best, FLOWS)
            for name, shown in SCHEMES.items():
                mine = runs.values(f"static/{cell}/{name}", FLOWS)
                text = (
                    f"{cell} {shown} {np.mean(mine):.0f}, optimum {np.mean(most):.0f} at {rate:g}/s"
                )
                found[text] = mine - (1 - ALMOST) * most
        return found

    def side(cell: str, more: str, less: str, margin: float = 0.0) -> Side:
        what = f"{cell}: {SCHEMES.get(more, more)} > {SCHEMES.get(less, less)}"
        return between(what, f"static/{cell}/{{}}", more, less, FLOWS, margin)

    cells = tuple(f"static/{cell}/{name}" for cell in CELLS for name in SCHEMES)
    under = [cell for cell in CELLS if cell.endswith("-100")]
    return {
        "fig3.ratio17": Check(
            tuple(f"static/30k-1000/{name}" for name in ("none", *SCHEMES)), ratio17
        ),
        "fig3.congested_gain10k": ordering(*(side("10k-1000", name, "none") for name in SCHEMES)),
        "fig3.underload": ordering(
            *(side(cell, name, "none", NOT_WORSE) for cell in under for name in SCHEMES),
            note="Not worse: not more than 2 % fewer.",
        ),
        "fig3.near_optimal": parts((*cells, *(f"optimum/{cell}" for cell in CELLS)), near),
        "fig3.gss_not_better": ordering(
            *(side(cell, "cp", "gssga", NOT_WORSE) for cell in CELLS),
            note="Up to 2 % more counts as no more.",
        ),
    }


def _figures4_and_5() -> dict[str, Check]:
    short = {
        name: Of(case, short_share) for name, case in (("none", NC), ("GSS+GA", GSS), ("CP", CP))
    }

    def side(more: str, less: str) -> Side:
        return Side(f"share under 5 s: {more} > {less}", short[more], short[less])

    def phases(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        first = runs.values(GSS, changes(0.0, 300.0, ("bracket", "golden")))
        then = runs.values(GSS, changes(0.0, 300.0, ("ascent",)))
        means = f"({plain(first)}, {plain(then)})"
        text = f"change an epoch while searching > while climbing {means}"
        return {text: first - then}

    def track(cp: str, other: str, start: float, end: float) -> Check:
        measure = gap(start, end)

        def find(runs: Runs) -> dict[str, np.ndarray | list[float]]:
            mine, theirs = runs.values(cp, measure), runs.values(other, measure)
            return {
                f"admissions within 10 % of completions ({100 * np.mean(mine):.2g} %)": 0.10 - mine,
                f"nearer than without control ({100 * np.mean(theirs):.3g} %)": theirs - mine,
            }

        return parts((cp, other), find)

    def above(case: str) -> Side:
        into, out = Of(case, admitted(50.0, 300.0)), Of(case, completed(50.0, 300.0))
        return Side("admitted > completed", into, out)

    def probes(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        share = runs.values(CP, spikes)
        return {
            f"a probe in more than 90 % of all 10 s ({100 * np.mean(share):.3g} %)": share - 0.9
        }

    return {
        "fig4.shift": ordering(side("GSS+GA", "none"), side("CP", "none")),
        "fig4.cp_best": ordering(side("CP", "GSS+GA"), side("GSS+GA", "none")),
        "fig5.nc_level": number(Of(NC, completed(50.0, 300.0))),
        "fig5.nc_gap": ordering(above(NC)),
        "fig5.gss_phases": parts((GSS,), phases),
        "fig5.gss_above": ordering(above(GSS)),
        "fig5.cp_track": track(CP, NC, 50.0, 300.0),
        "fig5.cp_spikes": parts((CP,), probes),
        "fig8.cp_track": track("arrivals/load3/cp", "arrivals/load3/none", 10.0, 300.0),
    }


def _figure6(study: Callable[[], Study]) -> Check:
    """Check that from LOAD1 to LOAD3 the changes get shorter, in each family."""

    def find(_: Runs) -> Finding:
        import tomllib

        found = []
        for family in ("arrivals", "size/100", "capacity/100"):
            way = "down-" if family.startswith("capacity") else ""
            ramps = []
            for load in LOADS:
                case = study().cases[f"{family}/{way}{load}/none"]
                change = tomllib.loads(study().document(case).load().show())["change"][0]
                ramps.append(_seconds(change.get("until", change["at"])) - _seconds(change["at"]))
            found.append((family.partition("/")[0], ramps))
        text = "; ".join(f"{name} over {a:g}, {b:g}, {c:g} s" for name, (a, b, c) in found)
        return Exact(text, all(a > b > c == 0 for _, (a, b, c) in found))

    return Check((), find)


def _seconds(text: str) -> float:
    number = float(text.rstrip("ms"))
    return number / 1000 if text.endswith("ms") else number


def _figures7_to_9() -> dict[str, Check]:
    def flows(family: str, load: str, more: str, less: str) -> Side:
        names = {**SCHEMES, "none": "none"}
        what = f"{load}: {names[more]} > {names[less]}"
        return between(what, f"{family}/{load}/{{}}", more, less, FLOWS)

    most = [("cp", "gssga"), ("cp", "none"), ("gssga", "none")]
    nc, cp = "arrivals/load3/none", "arrivals/load3/cp"
    dip = Side("before > during", Of(nc, completed(50.0, 125.0)), Of(nc, completed(130.0, 175.0)))

    def floor(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        rate = runs.values(cp, completed(125.0, 200.0))
        return {f"completions from 125 to 200 s > 100/s ({np.mean(rate):.4g})": rate - 100.0}

    equal = [
        side
        for load in ("down-load1", "down-load2", "down-load3")
        for name, shown in SCHEMES.items()
        for side in close(
            f"flows {load}: {shown} and none",
            Of(f"capacity/100/{load}/{name}", FLOWS),
            Of(f"capacity/100/{load}/none", FLOWS),
            ALMOST,
        )
    ]
    gain = [
        flows("capacity/1000", f"down-{load}", name, "none") for load in LOADS for name in SCHEMES
    ]
    return {
        "fig7.cp_best": ordering(
            *(flows("arrivals", load, *pair) for load in LOADS for pair in most)
        ),
        "fig8.nc_before": number(Of(nc, completed(50.0, 125.0))),
        "fig8.nc_dip": ordering(dip),
        "fig8.nc_after": number(Of(nc, completed(200.0, 300.0)), 100.0),
        "fig8.cp_floor": parts((cp,), floor),
        "fig9.gain1000": ordering(*gain),
        "fig9.par100": ordering(*equal),
    }


def checks(study: Callable[[], Study]) -> dict[str, Check]:
    """Return the checks of the figures, by the short id of the claim."""
    found = _figure2() | _figure3() | _figures4_and_5() | _figures7_to_9()
    return found | {"fig6.loads": _figure6(study)}
