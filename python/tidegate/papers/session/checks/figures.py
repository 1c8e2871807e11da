"""The checks of Figures 2 to 9: optima, orderings, and the shape of time lines."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check_builders import Greater, Value, between, close, number, ordering, plain
from tidegate.papers.check_results import Exact, Numbers
from tidegate.papers.effective import amount
from tidegate.papers.registry import claim
from tidegate.papers.session import measures as m
from tidegate.papers.session.cases import (
    ALMOST,
    CELLS,
    CP,
    GSS,
    LOADS,
    NC,
    NOT_WORSE,
    SCHEMES,
    SIZES,
    SWEEP,
)

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Floats, Parts, Runs

FAR = 1.5
"""The least ratio that counts as far above: Figure 2 has 250 above 110."""
MUCH = 2.0
"""The least ratio that counts as much more: Figure 5 has 1000 admitted, 50 completed."""
NEIGHBOUR = 100.0
"""Admit rates closer to the peak than this count as the peak, sessions/s."""

# Figure 2


def _peak(runs: Runs) -> tuple[float, Floats]:
    """Return the admit rate with the most completions on average, and its completions."""
    found = m.curve(runs)
    best = max(found, key=lambda rate: float(np.mean(found[rate])))
    return best, found[best]


@claim("fig2.peak_rate", of=SWEEP)
def peak_rate(runs: Runs) -> Numbers:
    """Check the most completions a second."""
    return Numbers(tuple(_peak(runs)[1]))


@claim("fig2.peak_admit", of=SWEEP)
def peak_admit(runs: Runs) -> Numbers:
    """Check the admit rate with the most completions."""
    found = m.curve(runs)
    rates = np.array(list(found))
    best = rates[np.argmax(np.array(list(found.values())), axis=0)]
    span = _within(found, 0.95)
    note = f"The curve is flat: from {span[0]:g} to {span[1]:g}/s it is within 5 % of its peak."
    return Numbers(tuple(map(float, best)), note=note)


def _within(found: dict[float, Floats], share: float) -> tuple[float, float]:
    most = max(float(np.mean(each)) for each in found.values())
    near = [rate for rate, each in found.items() if np.mean(each) >= share * most]
    return min(near), max(near)


@claim("fig2.nc_lt_half", of=(*SWEEP, NC))
def lost(runs: Runs) -> Parts:
    """Check that without control under half of the most complete."""
    share = runs.values(NC, m.RATE) / _peak(runs)[1]
    return {f"without control under half of the most ({np.mean(share):.3g})": 0.5 - share}


@claim("fig2.unimodal", of=SWEEP)
def unimodal(runs: Runs) -> Parts:
    """Check that completions rise to one maximum, and fall beyond it, up to 1000/s.

    With no gate as many complete as at 1000/s: a gate of 1000/s that counts what the
    queue takes refuses nobody whom the full queue would not lose.
    """
    best, most = _peak(runs)
    found = m.curve(runs) | {best: most}
    # neighbours of the peak differ by less than the seeds do
    rates = (65.0, 100.0, 150.0, 250.0, 400.0, 600.0, 1000.0)
    grid = [rate for rate in rates if abs(rate - best) >= NEIGHBOUR]
    up = [*(rate for rate in grid if rate < best), best]
    down = [best, *(rate for rate in grid if rate > best)]
    steps = list(pairwise(up))
    falls = [(low, high) for high, low in pairwise(down)]
    return {f"{high:g} > {low:g}": found[high] - found[low] for low, high in [*steps, *falls]}


@claim("fig2.identity_low", of=("admit/65", "admit/100"))
def identity(runs: Runs) -> Parts:
    """Check that at low admit rates as many complete as are admitted."""
    found: Parts = {}
    for rate in (65, 100):
        off = np.abs(runs.values(f"admit/{rate}", m.RATE) - rate) / rate
        found[f"at {rate}/s within 3 % ({100 * np.mean(off):.2g} %)"] = 0.03 - off
    return found


@claim("fig2.peak_above_completion", of=SWEEP)
def above_completions(runs: Runs) -> Parts:
    """Check that at the peak more are admitted than complete."""
    best, most = _peak(runs)
    return {f"admit {best:g} > {FAR:g} x complete {np.mean(most):.4g}": best - FAR * most}


@claim("fig2.plateau", of=SWEEP)
def plateau(runs: Runs) -> Parts:
    """Check that nearly the most complete where all complete that are admitted."""
    found, (_, most) = m.curve(runs), _peak(runs)
    kept = {rate: each for rate, each in found.items() if np.mean(each) >= 0.98 * rate}
    rate = max(kept)
    text = f"most {plain(most)}, with as many admitted {plain(kept[rate])}: within 10 %"
    return {text: kept[rate] - (1 - ALMOST) * most}


# Figure 3


@claim("fig3.ratio17", of=tuple(f"static/30k-1000/{name}" for name in ("none", *SCHEMES)))
def gain_at_30k(runs: Runs) -> Numbers:
    """Check how many times as many of 30 kB complete: the scheme that is further off counts."""
    paper = runs.paper.claim("fig3.ratio17").number or np.nan
    none = runs.values("static/30k-1000/none", m.FLOWS)
    both = {name: runs.values(f"static/30k-1000/{name}", m.FLOWS) / none for name in SCHEMES}
    note = ", ".join(f"{SCHEMES[name]} {np.mean(each):.3g}" for name, each in both.items())
    worst = max(both.values(), key=lambda each: abs(float(np.mean(each)) - paper))
    return Numbers(tuple(worst), f"{note}; without control {np.mean(none):.0f} complete.")


def _side(cell: str, more: str, less: str, margin: float = 0.0) -> Greater:
    what = f"{cell}: {SCHEMES.get(more, more)} > {SCHEMES.get(less, less)}"
    return between(what, f"static/{cell}/{{}}", more, less, m.FLOWS, margin)


@claim(
    "fig3.near_optimal",
    of=(
        *(f"static/{cell}/{name}" for cell in CELLS for name in SCHEMES),
        *(f"optimum/{cell}" for cell in CELLS),
    ),
)
def near_optimal(runs: Runs) -> Parts:
    """Check that both schemes are within 10 % of the brute-force optimum."""
    found: Parts = {}
    for cell in CELLS:
        rate, best = runs.best(f"optimum/{cell}")
        most = runs.values(best, m.FLOWS)
        for name, shown in SCHEMES.items():
            mine = runs.values(f"static/{cell}/{name}", m.FLOWS)
            text = f"{cell} {shown} {np.mean(mine):.0f}, optimum {np.mean(most):.0f} at {rate:g}/s"
            found[text] = mine - (1 - ALMOST) * most
    return found


# Figures 4 and 5

SHORT = {
    name: Value(case, m.short_share) for name, case in (("none", NC), ("GSS+GA", GSS), ("CP", CP))
}


def _shorter(more: str, less: str) -> Greater:
    return Greater(f"share under 5 s: {more} > {less}", SHORT[more], SHORT[less])


def _above(case: str, times: float) -> Check:
    into = Value(case, m.admitted(50.0, 250.0))
    out = Value(case, m.completed(50.0, 250.0), times)
    return ordering(Greater(f"admitted > {times:g} times completed", into, out))


@claim("fig5.gss_phases", of=(GSS,))
def phases(runs: Runs) -> Parts:
    """Check that GSS+GA changes more from epoch to epoch while it searches than then."""
    first = runs.values(GSS, m.changes(0.0, 250.0, ("bracket", "golden")))
    then = runs.values(GSS, m.changes(0.0, 250.0, ("ascent",)))
    means = f"({plain(first)}, {plain(then)})"
    return {f"change an epoch while searching > while climbing {means}": first - then}


def _tracked(runs: Runs, cp: str, other: str, start: float, end: float) -> Parts:
    measure = m.gap(start, end)
    mine, theirs = runs.values(cp, measure), runs.values(other, measure)
    return {
        f"admissions within 10 % of completions ({100 * np.mean(mine):.2g} %)": 0.10 - mine,
        f"nearer than without control ({100 * np.mean(theirs):.3g} %)": theirs - mine,
    }


@claim("fig5.cp_track", of=(CP, NC))
def track(runs: Runs) -> Parts:
    """Check that CP's admissions follow its completions."""
    return _tracked(runs, CP, NC, 50.0, 250.0)


@claim("fig5.cp_spikes", of=(CP,))
def probes(runs: Runs) -> Parts:
    """Check that admissions under CP spike upward in nearly every ten seconds."""
    share = runs.values(CP, m.spikes)
    return {f"a spike in more than 90 % of all 10 s ({100 * np.mean(share):.3g} %)": share - 0.9}


# Figure 6


@claim("fig6.loads", of=())
def loads(runs: Runs) -> Exact:
    """Check that from LOAD1 to LOAD3 the changes get shorter, in each family."""
    found = []
    for family in ("arrivals", "size/100", "capacity/100"):
        way = "down-" if family.startswith("capacity") else ""
        ramps = []
        for load in LOADS:
            change = runs.effective.of(f"{family}/{way}{load}/none")["change"][0]
            ramps.append(amount(change.get("until", change["at"])) - amount(change["at"]))
        found.append((family.partition("/")[0], ramps))
    text = "; ".join(f"{name} over {a:g}, {b:g}, {c:g} s" for name, (a, b, c) in found)
    return Exact(text, all(a > b > c == 0 for _, (a, b, c) in found))


# Figures 7 to 9

WITHOUT, WITH = "arrivals/load3/none", "arrivals/load3/cp"


def _flows(family: str, load: str, more: str, less: str) -> Greater:
    names = {**SCHEMES, "none": "none"}
    what = f"{load}: {names[more]} > {names[less]}"
    return between(what, f"{family}/{load}/{{}}", more, less, m.FLOWS)


@claim("fig8.cp_floor", of=(WITH,))
def floor(runs: Runs) -> Parts:
    """Check that under CP completions stay above 100/s in the overload."""
    rate = runs.values(WITH, m.completed(125.0, 200.0))
    return {f"completions from 125 to 200 s > 100/s ({np.mean(rate):.4g})": rate - 100.0}


@claim("text.spurt", of=(WITH,))
def spurt(runs: Runs) -> Parts:
    """Check that both admissions and completions jump under CP when the load does."""
    found: Parts = {}
    for what, measure in (("completions", m.completed), ("admissions", m.admitted)):
        before, after = (runs.values(WITH, measure(*span)) for span in ((100, 125), (125, 140)))
        found[f"{what} after 125 s > before ({plain(after)}, {plain(before)} 1/s)"] = after - before
    return found


@claim("fig8.cp_track", of=(WITH, WITHOUT))
def track_a_step(runs: Runs) -> Parts:
    """Check that CP's admissions follow its completions through the overload."""
    return _tracked(runs, WITH, WITHOUT, 10.0, 300.0)


BEFORE = Value(WITHOUT, m.completed(50.0, 125.0))
"""Completions a second without control before the overload of Figure 8."""

CHECKS = {
    "fig3.congested_gain10k": ordering(*(_side("10k-1000", name, "none") for name in SCHEMES)),
    "fig3.underload": ordering(
        *(_side(f"{size}k-100", name, "none", NOT_WORSE) for size in SIZES for name in SCHEMES),
        note="Not worse: not more than 5 % fewer.",
    ),
    "fig3.gss_not_better": ordering(
        *(_side(cell, "cp", "gssga", NOT_WORSE) for cell in CELLS),
        note="Up to 5 % more counts as no more.",
    ),
    "fig4.shift": ordering(_shorter("GSS+GA", "none"), _shorter("CP", "none")),
    "fig4.cp_best": ordering(_shorter("CP", "GSS+GA"), _shorter("GSS+GA", "none")),
    "fig5.nc_level": number(Value(NC, m.completed(50.0, 250.0))),
    "fig5.nc_gap": _above(NC, MUCH),
    "fig5.gss_above": _above(GSS, 1.1),
    "fig7.cp_best": ordering(
        *(
            _flows("arrivals", load, *pair)
            for load in LOADS
            for pair in (("cp", "gssga"), ("cp", "none"), ("gssga", "none"))
        )
    ),
    "fig8.nc_before": number(BEFORE),
    "fig8.nc_dip": ordering(
        Greater("before > during", BEFORE, Value(WITHOUT, m.completed(130.0, 175.0)))
    ),
    "fig8.nc_after": number(Value(WITHOUT, m.completed(200.0, 300.0))),
    "fig9.gain1000": ordering(
        *(
            _flows("capacity/1000", f"down-{load}", name, "none")
            for load in LOADS
            for name in SCHEMES
        )
    ),
    "fig9.par100": ordering(
        *(
            close(
                f"flows down-{load}: {shown} and none",
                f"capacity/100/down-{load}/{{}}",
                name,
                "none",
                m.FLOWS,
                ALMOST,
            )
            for load in LOADS
            for name, shown in SCHEMES.items()
        )
    ),
}
