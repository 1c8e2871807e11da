"""What is simulated: four experiments, other statements of the text, and free parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.papers.case import Case, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.scenario.document import Setting

EXPERIMENTS = ("1", "1b", "2", "3")
SERVICE = 40
"""Packets/s that the congested node sends; searched, since the paper does not give it."""
FASTER = 1.0
"""By how much the links that lead there are faster; searched."""
DELAY_MS = {"1": 400, "1b": 400, "2": 500, "3": 500}
"""Delay of a link, by the experiment; searched."""
BETWEEN_MS = (450, 150)
"""Delays between I1 and I2 and between I2 and I3 of experiment 2; searched."""
EQUAL = "2/equal"
"""Experiment 2 with one delay for all links, as its real processes had."""
PROCESSES = (30, 1.25, 400)
"""Service, links and delay of the experiments with processes."""
RATES = (10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 120, 200)
DELAYS_MS = (50, 100, 200, 300, 350, 400, 450, 500, 600, 800)
LINKS = {
    "1": tuple(f"from{n}" for n in range(1, 7)),
    "1b": tuple(f"from{n}" for n in range(1, 7)),
    "2": ("entry", "first", "second", *(f"from{n}" for n in range(2, 6))),
    "3": tuple(f"from{n}" for n in range(1, 7)),
}
"""The links that lead to the congested node."""
FILTERS = ("mobile", "static", "red-alone")
"""What is done against the greedy source of experiment 2."""
CROWDS = (4, 9, 19, 39, 79)
"""Numbers of responsive connections that share the queue with a greedy one."""
TREE = ("mobile", "static", "none")
AGAINST = ("drop-tail", "lgc", "fq-codel")
LATER_S = (2, 4, 6)
"""How long after the others source 5 of experiment 2 begins, to see what its count hangs on."""
LIVES_S = (10, 5, 2.5)
"""Times to live: that of the paper (5.1), and two that are too short."""
LATER = (
    '{ from = "s1", to = "S", arrivals = { at = ["150s"] }, size = "23000B", transport = { tcp = '
    '{ profile = "rfc", mss = "460B", initial_window = 1, delayed_ack = false, '
    "handshake = false } } }"
)
"""What the host of the greedy source sends later, by TCP: 50 packets."""
GATED = ("none", "gate", "lgc", "lgc-and-gate")
PACKET_BITS = 4000


def begins_later(seconds: float) -> str:
    """Return the key of experiment 2 where source 5 begins so long after the others."""
    return f"2/source-5-later/{seconds}"


def lives(experiment: str, seconds: float) -> str:
    """Return the key of an experiment whose nodes drop what was sent longer ago than this."""
    return f"life/{experiment}/{seconds:g}"


def rate(experiment: str, service: int) -> str:
    """Return the key of an experiment at another service rate."""
    return f"rate/{experiment}/{service}"


def delay(experiment: str, delay_ms: int) -> str:
    """Return the key of an experiment with other delays of its links."""
    return f"delay/{experiment}/{delay_ms}"


def moved(kind: str, *, lasting: bool = False) -> str:
    """Return the key of experiment 2 under a kind of filter, or under none."""
    return f"2/{kind}{'/lasting' if lasting else ''}"


def crowd(kind: str, others: int) -> str:
    """Return the key of a case: a greedy connection and `others` responsive ones."""
    return f"crowd/{kind}/{others}"


def _file(experiment: str) -> str:
    return f"experiment-{experiment}.toml"


def rates(experiment: str, service: float, faster: float) -> tuple[Setting, ...]:
    """Return the settings of a service rate, in packets/s, and of the links that lead there."""
    up, last = (f"{int(each * PACKET_BITS)}bit" for each in (service * faster, service))
    links = [(f"topology.links.{name}.rate", up) for name in LINKS[experiment]]
    return (*links, ("topology.links.last.rate", last))


def delays(experiment: str, delay_ms: int) -> tuple[Setting, ...]:
    """Return the settings of a delay of all links."""
    names = (*LINKS[experiment], "last")
    return tuple((f"topology.links.{name}.delay", f"{delay_ms}ms") for name in names)


def between() -> tuple[Setting, ...]:
    """Return the settings of unequal delays between the nodes of experiment 2."""
    pairs = zip(("first", "second"), BETWEEN_MS, strict=True)
    return tuple((f"topology.links.{name}.delay", f"{delay_ms}ms") for name, delay_ms in pairs)


def as_processes(experiment: str) -> str:
    """Return the key of an experiment with the settings of the real processes."""
    return f"processes/{experiment}"


def _as_processes(experiment: str) -> Case:
    service, faster, delay_ms = PROCESSES
    settings = [*rates(experiment, service, faster), *delays(experiment, delay_ms)]
    if experiment == "2":
        settings.append(("traffic.s1.arrivals", '{ uniform = 1, within = "200ms" }'))
    if experiment == "3":
        settings.append(("port.last.filter.tx", "3s"))
    return Case(as_processes(experiment), _file(experiment), (), tuple(settings), 1)


def _at_rate(experiment: str, service: int) -> Case:
    settings = [*rates(experiment, service, FASTER)]
    if service < SERVICE:  # all must have the time to end
        settings.append(("duration", f"{120 * SERVICE // service}s"))
    return Case(rate(experiment, service), _file(experiment), (), tuple(settings), 5)


def _at_delay(experiment: str, delay_ms: int) -> Case:
    settings = delays(experiment, delay_ms)
    return Case(delay(experiment, delay_ms), _file(experiment), (), settings, 5)


def _moved(kind: str, lasting: bool) -> Case:
    variants: tuple[str, ...] = ("lasting",) if lasting else ()
    if kind != "mobile":
        variants += (kind,)
    return Case(moved(kind, lasting=lasting), _file("2"), variants)


def _too_long() -> list[Case]:
    """Return experiment 2 with an ITime that is too long, and with an FHTime that is.

    In the latter the source is silent for two minutes, and then gives way.
    """
    itime = tuple((f"port.{port}.filter.itime", "50s") for port in ("second", "last"))
    later = (("duration", "240s"), ("traffic.later", LATER))
    return [
        Case("2/itime-long", _file("2"), ("lasting",), itime),
        Case("2/fhtime-later", _file("2"), (), later),
        Case("2/fhtime-long", _file("2"), (), (*later, ("port.first.filter.fhtime", "1000s"))),
    ]


def _at(source: str, seconds: float) -> Setting:
    return f"traffic.{source}.arrivals", f'{{ at = ["{seconds}s"] }}'


def _otherwise() -> list[Case]:
    """Return the cases that take one thing away, to see what a difference hangs on."""
    cases = [Case(begins_later(each), _file("2"), (), (_at("s5", each),)) for each in LATER_S]
    cases.append(Case("3/later", _file("3"), (), (_at("s3", 16.5),)))
    gentle = ("port.bottleneck.queue.gentle", "true")
    return [*cases, replace(_crowd("red", 9).having(gentle), key="crowd/gentle/9")]


def _lives(experiment: str, seconds: float) -> Case:
    ports = [each for each in LINKS[experiment] if each in ("first", "second")]
    settings = tuple((f"port.{each}.lifetime", f"{seconds}s") for each in (*ports, "last"))
    return Case(lives(experiment, seconds), _file(experiment), (), settings)


def _crowd(kind: str, others: int) -> Case:
    variants = () if kind == "red" else (kind,)
    settings = (("traffic.rest.arrivals.uniform", str(others)),)
    return Case(crowd(kind, others), "many.toml", variants, settings, 5, weight=5.0)


def _all() -> list[Case]:
    cases = [Case(each, _file(each)) for each in EXPERIMENTS]
    cases.append(Case(EQUAL, _file("2"), (), delays("2", DELAY_MS["2"])))
    cases += [Case(f"1/{each}", _file("1"), (each,)) for each in ("at-once", "complete-red")]
    cases += [_as_processes(each) for each in EXPERIMENTS]
    short = [(f"port.{port}.filter.itime", "200ms") for port in ("first", "second", "last")]
    cases.append(Case("2/itime-short", _file("2"), (), tuple(short)))
    again = tuple((f"port.{port}.filter.fhtime", "10s") for port in ("first", "second", "last"))
    cases.append(Case("2/fhtime-short", _file("2"), ("lasting",), again))
    cases += _too_long() + _otherwise()
    cases += [_lives(each, seconds) for each in EXPERIMENTS for seconds in LIVES_S]
    cases += [_at_rate(each, service) for each in EXPERIMENTS for service in RATES]
    cases += [_at_delay(each, delay_ms) for each in EXPERIMENTS for delay_ms in DELAYS_MS]
    cases += [_moved(kind, lasting) for kind in FILTERS for lasting in (False, True)]
    cases += [_crowd("red", 9), _crowd("marks", 9)] + [_crowd("tail", others) for others in CROWDS]
    cases.append(Case("five", "many.toml", ("lgc", "five"), (), 5, weight=5.0))
    cases += [Case(f"tree/{each}", "hundred-nodes.toml", (each,), (), 5, 100.0) for each in TREE]
    for load in ("", "-moderate"):
        cases += [
            Case(f"fair/{each}{load}", "fair.toml", (each + load,), (), 5) for each in AGAINST
        ]
    cases += [Case(f"gated/{each}", "gated.toml", (each,), (), 5, 10.0) for each in GATED]
    return cases


CASES = {case.key: case for case in _all()}

SETS: dict[str, Sequence[object]] = {
    "delay": DELAYS_MS,
    "experiment": EXPERIMENTS,
    "later": LATER_S,
    "life": [f"{each:g}" for each in LIVES_S],
    "rate": RATES,
}
"""Parts of the keys of cases, by the name that `claims.csv` has for them."""

SCALE = Scale(
    seeds=10,
    quick=("example", "fig2", "shortcoming.qo", "exp1", "exp1b", "exp2", "exp3", "param"),
    sensitive=(
        "exp1.*",
        "exp1b.*",
        "exp2.*",
        "exp3.*",
        "text.incentive",
        "text.bounded",
        "text.static_filter",
        "text.ttl",
    ),
    sensitive_seeds=5,
    keep=(
        "size_bytes",
        "start_s",
        "admitted_s",
        "data_done_s",
        "closed_s",
        "class",
        "sent_packets",
        "retransmitted_packets",
        "delivered_bytes",
    ),
)
