"""What is simulated: the experiments of the paper, optima, ablations, and further cases."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tidegate.papers.case import Case, OptimumSearch, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.scenario.document import Setting

CONTROLS = {"none": "none", "gssga": "gss-ga", "cp": "cp"}
"""Name of a control in the claims, and of its variant in the scenarios."""
LOADS = ("load1", "load2", "load3")
ARRIVALS = (100, 1000)
SIZES = (10, 30)
RATES = (65, 100, 110, 120, 130, 150, 200, 250, 300, 400, 600, 1000)
"""Admit rates of Figure 2 and Tables I and II, sessions/s."""
UNDERLOAD = 0.25
"""The cost of a second at 100 sessions/s relative to one at 1000."""

NC, GSS, CP = (f"static/10k-1000/{name}" for name in ("none", "gssga", "cp"))
OPTIMUM = "optimum/10k-1000"
CELLS = tuple(f"{size}k-{rate}" for size in SIZES for rate in ARRIVALS)
SCHEMES = {"gssga": "GSS+GA", "cp": "CP"}
NAMES = {"nosc": "none", "gssga": "gssga", "cp": "cp"}
"""The controls in the ids of claims, and in the keys of cases."""
TABLE1 = (1000, 250, 150, 100, 65)
TABLE2 = (1000, 200, 150, 100, 65)
"""Admit rates of the tables, sessions/s."""
ALMOST = 0.10
"""The most that counts as almost as much."""
OPTIMA = {"30k": "30k-1000", "300": "10k-300", "5M": "5M", "100": "10k-100"}
"""The load of `OTHER_LOADS`, and the search for its optimum."""

GATE = "port.bottleneck.gate"
ARRIVAL_RATE = "traffic.web.arrivals.poisson"
MEAN_SIZE = "traffic.web.size.pareto.mean"
CAPACITY = "topology.dumbbell.bottleneck.rate"
BUFFER = "topology.dumbbell.bottleneck.buffer"


def admit(rate: int) -> str:
    """Return the case of an admit rate; 1000 is no control at all, which also lets retries pass."""
    return NC if rate == 1000 else f"admit/{rate}"


def fixed(rate: float) -> Setting:
    """Return the setting of a fixed admit rate."""
    gate = f'law = "fixed-rate", rate = "{rate:g}/s", epoch = "1s", limiter = "counter"'
    return GATE, f'{{ {gate}, charge = "queued" }}'


def arriving(rate: int) -> tuple[Setting, ...]:
    """Return the setting of an arrival rate."""
    return ((ARRIVAL_RATE, f"{rate}/s"),)


def capacity(mbit: int) -> tuple[Setting, ...]:
    """Return the settings of a capacity, with the buffer in proportion."""
    return ((CAPACITY, f"{mbit}Mbit"), (BUFFER, f"{round(21.7 * mbit)}packets"))


def at_rate(
    rate: float, key: str, settings: tuple[Setting, ...] = (), scenario: str = "static.toml"
) -> Case:
    """Return the case of a fixed admit rate."""
    return Case(f"{key}/{rate:g}", scenario, (), (*settings, fixed(rate)))


def _cost(rate: int) -> float:
    return UNDERLOAD if rate == 100 else 1.0


def _paper() -> list[Case]:
    """Return what the paper shows: the static cells, and the changing loads."""
    cases = [at_rate(rate, "admit") for rate in RATES]
    for control, variant in CONTROLS.items():
        for rate in ARRIVALS:
            here, weight = arriving(rate), _cost(rate)
            for size in SIZES:
                cell = (*here, (MEAN_SIZE, f"{size}kB"))
                key = f"static/{size}k-{rate}/{control}"
                cases.append(Case(key, "static.toml", (variant,), cell, weight=weight))
            for load in (*LOADS, "pulses"):
                key = f"size/{rate}/{load}/{control}"
                cases.append(Case(key, "size.toml", (load, variant), here, weight=weight))
            for load in (*(f"{way}-{load}" for way in ("down", "up") for load in LOADS), "pulses"):
                key = f"capacity/{rate}/{load}/{control}"
                cases.append(Case(key, "capacity.toml", (load, variant), here, weight=weight))
        for load in (*LOADS, "pulses"):
            key = f"arrivals/{load}/{control}"
            cases.append(Case(key, "arrivals.toml", (load, variant), weight=0.4))
    return cases


def _ablations() -> list[Case]:
    """Return the laws without one of their parts."""
    no_ga, no_way_back = (f"{GATE}.ga", "false"), (f"{GATE}.restart", "false")
    return [
        Case("ablation/gss-alone", "static.toml", ("gss-ga",), (no_ga,)),
        Case("ablation/no-smoothing", "static.toml", ("cp",), ((f"{GATE}.beta", "1.0"),)),
        *(
            Case(f"ablation/{load}-no-way-back", "capacity.toml", (load, "gss-ga"), (no_way_back,))
            for load in ("up-load3", "down-load3")
        ),
        Case("ablation/size-no-way-back", "size.toml", ("load3", "gss-ga"), (no_way_back,)),
    ]


def _beyond() -> list[Case]:
    """Return the cases that the paper names and does not run."""
    endless = ("traffic.web.size", '"unlimited"')
    short = ("duration", "150s")
    # CP's guard lets all in until a session ends: without it its own rule is seen
    bare = {"gssga": (), "cp": ((f"{GATE}.guard", "false"),)}
    cases = [
        Case(f"endless/{name}", "static.toml", (CONTROLS[name],), (endless, short, *without))
        for name, without in bare.items()
    ]
    cases += [
        Case(f"range/{mbit}/gssga", "static.toml", ("gss-ga",), capacity(mbit)) for mbit in (5, 20)
    ]
    cases += [
        Case(f"{name}/{control}", f"{name}.toml", (CONTROLS[control],))
        for name in ("downloads", "udp")
        for control in ("none", "cp")
    ]
    cases += [
        Case(f"series/{name}", "series.toml", (name,))
        for name in ("none", "first", "second", "both")
    ]
    for rate in ARRIVALS:
        ways = ("all", "fin5", "fin15", "syn15")
        cases += [
            Case(f"paths/{rate}/{way}", "paths.toml", (way,), arriving(rate), weight=_cost(rate))
            for way in ways
        ]
    refused = ((f"{GATE}.refuse", "rst"),)
    cases += [
        Case("refuse/rst", "static.toml", ("cp",), refused),
        Case("opaque/10", "static.toml", ("cp",), (("traffic.web.opaque_share", "0.1"),)),
        Case("opaque/0.15", "static.toml", ("cp",), (("traffic.web.opaque_share", "0.0015"),)),
    ]
    return cases + _taken_away() + _hosts() + _thresholds() + _beside() + _tried() + _said()


HOSTS: dict[str, tuple[Setting, ...]] = {
    "3s": (("traffic.web.transport.tcp.initial_rto", "3s"),),
    "1s": (("traffic.web.transport.tcp.initial_rto", "1s"),),
    "linear": (
        ("traffic.web.transport.tcp.initial_rto", "1s"),
        ("traffic.web.transport.tcp.syn_retries", "{ linear = 3, limit = 6 }"),
    ),
    "jitter": (("traffic.web.transport.tcp.syn_retries", '{ jitter = 0.5, limit = "none" }'),),
    "15s": (("traffic.web.transport.tcp.initial_rto", "15s"),),
}
"""Other schedules of SYN retries at the end hosts (the paper's further work)."""


def _long_epochs() -> tuple[Setting, ...]:
    """Return GSS+GA with epochs of 10 s, and all that it counts in an epoch five times as much."""
    counted = {"step_size": 20, "threshold": 100, "alpha_min": 10, "probe": 5}
    scaled = tuple((f"{GATE}.{name}", str(5 * value)) for name, value in counted.items())
    return ((f"{GATE}.epoch", "10s"), *scaled)


OTHER_TCP: tuple[Setting, ...] = tuple(
    (f"traffic.web.transport.tcp.{key}", value)
    for key, value in (
        ("profile", "ns2-2003"),
        ("timer_rule", "rfc"),
        ("tick", "500ms"),
        ("fin_waits", "false"),
    )
)
"""Hosts that are nearer to what the paper has without control, and further in other rows."""
SHORTER: Setting = ("duration", "250s")
"""A length of V-G that the text does not exclude: its 300 s are of V-E and V-F."""
COMPARED = ("none", "cp")
"""Controls whose rows do not spread over the seeds, which are set beside each other."""
FALLS = tuple(
    f"capacity/{rate}/down-{load}/{control}"
    for rate in ARRIVALS
    for load in LOADS[:2]
    for control in COMPARED
)
"""Cases of Table VI."""
TABULATED = (
    NC,
    *(f"admit/{rate}" for rate in (250, 150, 100)),
    *(f"arrivals/{load}/{control}" for load in LOADS for control in COMPARED),
    *(f"size/1000/{load}/{control}" for load in LOADS for control in COMPARED),
    *FALLS,
)
"""Cases of Tables I and III to VI."""


def _beside() -> list[Case]:
    """Return the cases of the tables with other hosts, and those of V-G over 250 s."""
    known = {case.key: case for case in _paper()}

    def also(before: str, key: str, *settings: Setting) -> Case:
        return replace(known[key].having(*settings), key=f"{before}/{key}", seeds=3)

    cases = [also("other-tcp", key, *OTHER_TCP) for key in TABULATED]
    cases += [also("250s", key, SHORTER) for key in FALLS]
    return cases + [also("250s/other-tcp", key, SHORTER, *OTHER_TCP) for key in FALLS]


SETTLING: dict[str, tuple[int, tuple[Setting, ...]]] = {
    "skip": (5, ((f"{GATE}.skip", "4"),)),
    "long": (5, _long_epochs()),
    "both": (10, (*_long_epochs(), (f"{GATE}.skip", "2"))),
}
"""GSS+GA that looks longer at each allowance: by how much runs are longer, and the settings."""
MILD = ("static/10k-100", "size/100/load1", "capacity/100/pulses")
"""Loads of 100/s at which CP is behind no control in what a row compares."""


def settling(name: str) -> str:
    """Return the key of GSS+GA that looks longer at each allowance; "taken" does not."""
    return GSS if name == "taken" else f"settling/{name}"


def mild(load: str, control: str, what: str = "") -> str:
    """Return the key of a mild load, as taken or with "1s" (retries) or "sooner" (CP's growth)."""
    return f"mild/{load}/{control}/{what}" if what else f"{load}/{control}"


STEPS = (5, 2)
"""Steps of the ascent beside the paper's 20, sessions."""


def stepping(step: int, what: str) -> str:
    """Return the key of GSS+GA with a step, "alone" (golden sections) or "both"."""
    if step == 20:  # as in the paper
        return "ablation/gss-alone" if what == "alone" else GSS
    return f"step/{step}/{what}"


def long_segments(what: str) -> str:
    """Return the key of a case of Table I with segments of 1000 B."""
    return f"segments/1000/{what}"


def _taken_away() -> list[Case]:
    """Return the cases that take one thing away, to see what a difference hangs on."""
    return [*_settling(), *_stepping(), *_long_segments()]


def _stepping() -> list[Case]:
    known = {case.key: case for case in [*_paper(), *_ablations()]}
    return [
        replace(
            known[stepping(20, what)].having((f"{GATE}.step_size", str(step))),
            key=stepping(step, what),
        )
        for step in STEPS
        for what in ("alone", "both")
    ]


def _long_segments() -> list[Case]:
    known = {case.key: case for case in _paper()}
    return [
        replace(
            known[admit(rate)].having((f"{_TCP}.mss", "1000B")),
            key=long_segments(str(rate)),
            seeds=3,
        )
        for rate in (1000, 250, 150)
    ]


def _settling() -> list[Case]:
    cases = [
        Case(
            settling(name), "static.toml", ("gss-ga",), (*more, ("duration", f"{250 * times}s")), 3
        )
        for name, (times, more) in SETTLING.items()
    ]
    known = {case.key: case for case in _paper()}
    sooner = ((f"{GATE}.increase_factor", "1.5"),)
    for load in MILD:
        changed = {("none", "1s"): HOSTS["1s"], ("cp", "1s"): HOSTS["1s"], ("cp", "sooner"): sooner}
        cases += [
            replace(known[mild(load, name)].having(*more), key=mild(load, name, what), seeds=3)
            for (name, what), more in changed.items()
        ]
    return cases


_TCP = "traffic.web.transport.tcp"
TRIED_AT = (250, 150, 100)
"""Admit rates at which other settings were looked at for the paper's completions."""
_DOWNLOADS = (("traffic.web.direction", "download"), (f"{GATE}.admit", "syn-ack"))
"""Sessions whose data answers: the gate counts their SYN+ACKs."""
TRIED_SETTINGS: dict[str, tuple[Setting, ...]] = {
    **{f"epoch of the gate {each} s": ((f"{GATE}.epoch", f"{each}s"),) for each in (0.5, 2, 6, 10)},
    "a SYN charged when it has passed": ((f"{GATE}.charge", "passed"),),
    "the same, epoch 6 s": ((f"{GATE}.charge", "passed"), (f"{GATE}.epoch", "6s")),
    "buffer of 50 packets": ((BUFFER, "50packets"),),
    "access links of 1 Mbit/s": (("topology.dumbbell.access.rate", "1Mbit"),),
    "segments of 256 B": ((f"{_TCP}.mss", "256B"),),
    "segments of 1460 B": ((f"{_TCP}.mss", "1460B"),),
    "least RTO 3 s": ((f"{_TCP}.min_rto", "3s"),),
    "least RTO 6 s": ((f"{_TCP}.min_rto", "6s"),),
    "back-off by Karn's rule": ((f"{_TCP}.timer_rule", "rfc"),),
    "losses as ns-2's one-way agents": ((f"{_TCP}.loss_rule", "one-way"),),
    "other hosts (as above)": OTHER_TCP,
    "downloads, gated by their SYN+ACKs": _DOWNLOADS,
    "the same, each after a request of 400 B": (
        *_DOWNLOADS,
        ("traffic.web.pages", "{ objects = 1, connections = 1 }"),
    ),
}
"""One change each, by what it is; search.md has more."""


def tried(place: int, rate: int) -> str:
    """Return the key of a fixed rate with one of them."""
    return f"tried/{place}/{rate}"


def _tried() -> list[Case]:
    return [
        replace(at_rate(rate, "tried").having(*settings), key=tried(place, rate), seeds=1)
        for place, settings in enumerate(TRIED_SETTINGS.values())
        for rate in TRIED_AT
    ]


CALLS: Setting = (
    "traffic.calls",
    '{ arrivals = { at = ["20s", "20s", "20s", "20s", "20s"] },'
    ' transport = { udp = { rate = "80kbit", packet = "200B" } } }',
)
"""Five calls of 64 kbit/s and their headers, which no gate counts."""


def _said() -> list[Case]:
    """Return what the paper says in passing: delays, footnote 3, streaming applications (I)."""
    return [
        Case(f"{name}/{control}", f"{scenario}.toml", (variant,), settings, seeds=3)
        for name, scenario, settings in (
            ("delays", "delays", ()),
            ("mimd", "mimd", ()),
            ("calls", "static", (CALLS,)),
        )
        for control, variant in CONTROLS.items()
    ]


def _hosts() -> list[Case]:
    return [
        Case(f"hosts/{name}/{control}", "static.toml", (CONTROLS[control],), settings)
        for name, settings in HOSTS.items()
        for control in ("none", "cp")
    ]


OTHER_LOADS: dict[str, tuple[Setting, ...]] = {
    "30k": ((MEAN_SIZE, "30kB"),),
    "300": arriving(300),
    "5M": capacity(5),
    "100": arriving(100),
}
"""Loads for which the thresholds were not tuned."""
TUNED = {"occupancy": 0.999, "loss-rate": 0.3}
"""The thresholds with the most completions of `TRIED`, at 10 kB, 1000/s and 10 Mbit/s."""
TRIED = {
    "occupancy": (0.5, 0.7, 0.9, 0.98, 0.99, 0.999),
    "loss-rate": (0.01, 0.1, 0.3, 0.4, 0.5, 0.6),
}


def threshold(law: str, value: float, load: str = "tuning") -> Case:
    """Return the case of a gate that goes by a threshold."""
    gate = (GATE, f'{{ law = "{law}", threshold = {value:g}, charge = "queued" }}')
    settings = (*OTHER_LOADS.get(load, ()), gate)
    return Case(f"threshold/{law}/{load}/{value:g}", "static.toml", (), settings)


def _thresholds() -> list[Case]:
    """Return the baselines at the load that they are tuned at, and then at others."""
    tuning = [threshold(law, value) for law, values in TRIED.items() for value in values]
    tuned = [threshold(law, value, load) for law, value in TUNED.items() for load in OTHER_LOADS]
    controls = [
        Case(f"other/{load}/{control}", "static.toml", (CONTROLS[control],), settings)
        for load, settings in OTHER_LOADS.items()
        for control in ("cp", "gssga")
    ]
    return tuning + tuned + controls


STATIC = tuple(f"static/{cell}" for cell in CELLS)
CHANGING = (
    *(f"arrivals/{load}" for load in LOADS),
    *(f"size/{rate}/{load}" for rate in ARRIVALS for load in LOADS),
    *(f"capacity/{rate}/down-{load}" for rate in ARRIVALS for load in LOADS),
)
SETS: dict[str, Sequence[object]] = {
    "arrivals": ARRIVALS,
    "cell": CELLS,
    "control": tuple(CONTROLS),
    "everywhere": (*STATIC, *CHANGING),  # every load of the paper
    "family": ("static/10k-1000", "arrivals/load1", "size/100/load2", "capacity/1000/down-load3"),
    "load": LOADS,
    "optimum": tuple(OPTIMA.values()),
    "other": tuple(OTHER_LOADS),
    "pulses": (
        "arrivals/pulses",
        *(f"{what}/{rate}/pulses" for what in ("size", "capacity") for rate in ARRIVALS),
    ),
    "rate": RATES,
    "said": tuple(f"{name}/{each}" for name in ("delays", "mimd", "calls") for each in CONTROLS),
    "scheme": tuple(SCHEMES),
    "falls": FALLS,
    "settling": tuple(SETTLING),
    "steps": STEPS,
    "mild": MILD,
    "tabulated": TABULATED,
    "tried": tuple(
        tried(place, rate) for place, _ in enumerate(TRIED_SETTINGS) for rate in TRIED_AT
    ),
    "thresholds": tuple(case.key for case in _thresholds() if case.key.startswith("threshold")),
}
"""Parts of the keys of cases, by the name that `claims.csv` has for them."""

CASES = {case.key: case for case in [*_paper(), *_ablations(), *_beyond()]}

GRIDS: dict[str, tuple[tuple[float, ...], tuple[Setting, ...], str]] = {
    "10k-1000": ((65, 100, 150, 200, 250, 300, 400, 600, 1000), (), "static.toml"),
    "30k-1000": ((20, 40, 60, 80, 100, 150, 300), OTHER_LOADS["30k"], "static.toml"),
    "10k-100": ((60, 80, 100, 120, 150), arriving(100), "static.toml"),
    "30k-100": ((20, 40, 60, 80, 100, 150), (*arriving(100), *OTHER_LOADS["30k"]), "static.toml"),
    "10k-300": ((60, 100, 150, 200, 250, 300), arriving(300), "static.toml"),
    "10k-600": ((60, 100, 150, 200, 250, 300, 400, 600), arriving(600), "static.toml"),
    "5M": ((30, 60, 100, 150, 200, 300, 500, 700, 1000), capacity(5), "static.toml"),
    "20M": ((150, 200, 250, 300, 400, 600, 1000, 1500), capacity(20), "static.toml"),
    "udp": ((30, 60, 100, 150, 200, 300, 500, 700, 1000), (), "udp.toml"),
}
"""Coarse grids of the brute-force optima, sessions/s, with the load of each."""

SEARCHES = {
    f"optimum/{name}": OptimumSearch(
        f"optimum/{name}",
        partial(at_rate, key=f"admit-{name}", settings=settings, scenario=scenario),
        grid,
        10.0,
        around=2 if name.endswith("1000") else 1,
    )
    for name, (grid, settings, scenario) in GRIDS.items()
}

SCALE = Scale(
    quick=(
        "setup",
        "table*",
        "fig2.identity_low",
        "fig3.ratio17",
        "fig3.congested_gain10k",
        "fig3.underload",
        "fig3.gss_not_better",
        "fig4",
        "fig5",
        "fig6",
        "fig7",
        "fig8",
        "fig9",
        "text.last100",
        "text.size_session_load",
    ),
    sensitive=(
        "table1.admit1000.completion_rate",
        "table1.admit1000.fct",
        "table1.admit100.fct",
        "table1.admit65.fct",
        "table1.admit65.goodput",
        "fig3.ratio17",
        "fig4.cp_best",
        "fig5.cp_track",
        "table3.load1.cp.fct",
        "table3.load2.cp.fct",
        "table3.load3.cp.fct",
        "table4.arr1000.load3.nosc.flows",
        "table4.arr1000.load3.gssga.flows",
        "table4.arr1000.load3.cp.flows",
        "table6.cp_1000",
    ),
    keep=("size_bytes", "start_s", "admitted_s", "data_done_s", "closed_s"),
)
