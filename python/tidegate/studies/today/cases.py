"""Five kinds of links, four kinds of load, three of hosts, and the controls that are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from tidegate.papers.case import Case
from tidegate.scenario.real_gate import in_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.scenario.document import Setting


@dataclass(frozen=True)
class TodayLink:
    """A link: rate, round trip, buffer, and the sessions of its users."""

    name: str
    says: str
    mbit: int
    rtt_ms: int
    buffer_ms: int
    mean_kb: int
    duration_s: int
    warmup_s: int
    path: tuple[Setting, ...] = ()
    """What the link does besides; then `mbit` and `rtt_ms` are means."""

    @property
    def capacity(self) -> float:
        """Sessions per second that it can carry, headers left out."""
        return self.mbit * 1e6 / (self.mean_kb * 8e3)

    @property
    def buffer_packets(self) -> int:
        """How many full packets wait at most."""
        return max(8, int(self.mbit * 1e6 * self.buffer_ms / 1e3 / (1500 * 8)))


STARLINK = '"tidegate:starlink"'
UPLINK = '"tidegate:starlink-up"'
SHARE = "scale = 0.092"
"""Of what one dish measures: so the first 120 s have a mean of 20 Mbit/s, as the venue."""

LINKS = (
    TodayLink("satellite", "2 Mbit/s, 600 ms, 500 ms of buffer", 2, 600, 500, 30, 300, 60),
    TodayLink(
        "moving satellite",
        "20 Mbit/s and 56 ms in the mean, both changing every 15 s, 250 ms of buffer",
        *(20, 56, 250, 30, 120, 20),
        path=(
            ("port.bottleneck.rate", f"{{ trace = {STARLINK}, {SHARE} }}"),
            ("port.bottleneck.delay", f"{{ trace = {STARLINK} }}"),
            ('port."bottleneck.reverse".rate', f"{{ trace = {UPLINK}, {SHARE} }}"),
            ('port."bottleneck.reverse".delay', f"{{ trace = {UPLINK} }}"),
        ),
    ),
    TodayLink(
        "cellular",
        "6 Mbit/s in the mean, between 2 and 11, 60 ms, 500 ms of buffer",
        *(6, 60, 500, 30, 120, 20),
        path=(("port.bottleneck.rate", '{ trace = "tidegate:lte" }'),),
    ),
    TodayLink("venue", "20 Mbit/s, 40 ms, 250 ms of buffer", 20, 40, 250, 30, 120, 20),
    TodayLink("campus", "1 Gbit/s, 20 ms, 50 ms of buffer", 1000, 20, 50, 100, 30, 8),
)
LOADS = {
    "sessions": "twice as many sessions as fit",
    "greedy": "half as many sessions as fit, and 30 transfers without end",
    "downloads": "half as many downloads again as fit, given up after 10 s",
    "pages": "half as many pages again as fit, given up after 10 s",
}
HOSTS = {"cubic": tuple(LOADS), "bbr3": ("greedy", "pages"), "prague": ("greedy", "pages")}
"""The loads of each kind of hosts."""

PAGE_KB = 150
"""A page: a document of 30 kB and ten objects of 12 kB on average."""
PAGE = '{ document = "30kB", objects = 10, connections = 6 }'

GATES = {
    "close-probe": 'law = "close-probe", relief = true',
    "gss-ga": 'law = "gss-ga"',
    "tide": 'law = "tide", admit = "connections"',
}
QUEUES = {
    "drop-tail": '{ law = "drop-tail" }',
    "pie": '{ law = "pie" }',
    "fq-codel": '{ law = "fq-codel" }',
    "cake": '{ law = "cake" }',
    "dualpi2": '{ law = "dualpi2" }',
    "fq-codel-l4s": '{ law = "fq-codel", ce_threshold = "1ms" }',
    "dqm": '{ law = "dqm", x_m = XM, x_M = XM, measure = "instantaneous" }',
}
CONTROLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "cubic": (
        ("drop-tail",),
        ("pie",),
        ("fq-codel",),
        ("cake",),
        ("dualpi2",),
        ("close-probe",),
        ("tide",),
        ("tide", "fq-codel"),
    ),
    "bbr3": (("drop-tail",), ("fq-codel",), ("dualpi2",), ("tide",), ("tide", "fq-codel")),
    "prague": (
        ("drop-tail",),
        ("fq-codel",),
        ("fq-codel-l4s",),
        ("dualpi2",),
        ("tide",),
        ("tide", "dualpi2"),
    ),
}
OF_PAPERS = (("dqm",), ("gss-ga",))
"""Further systems of the papers, tried at the venue."""
FITTED = {
    "fq-codel": "fq-codel-600ms",
    "cake": "cake-600ms",
}
"""The queue laws that go by an interval, about the longest round trip, and the same laws with
the interval of a satellite link: 600 ms in place of 100 ms, the target 5 % of it (RFC 8289, 4.3).
"""
QUEUES |= {
    fitted: f'{{ law = "{law}", interval = "600ms", target = "30ms" }}'
    for law, fitted in FITTED.items()
}
OWN_HOSTS = {
    "qfcp": ('"qfcp"', ("stamp", '{ law = "qfcp" }')),
    "blitz": ('"blitz"', ("queue", '{ law = "pushout" }')),
}
"""Controls that need their own hosts: the transport, and the stage of the port."""
TAKEN_AWAY = {
    "the rate stands still": ".rate",
    "the delay stands still": ".delay",
    "gate with onset": "",
}
"""What is taken away, one at a time, from `tide` where long transfers share a moving satellite:
the end of the keys that go, or the gate's start, which a real gate delays (`onset`)."""
TAKEN_FROM = "moving-satellite/greedy/cubic:tide"


def controls(link: TodayLink, hosts: str) -> tuple[tuple[str, ...], ...]:
    """Return the stages of each control at a link whose hosts are not a control's own."""
    there = CONTROLS[hosts]
    if hosts != "cubic":
        return there
    if link.name == "venue":
        return there + OF_PAPERS
    if link.rtt_ms <= 300:  # an interval of 100 ms fits: RFC 8289, 4.3
        return there
    fitted = (tuple(FITTED.get(stage, stage) for stage in stages) for stages in there)
    return (*there, *(stages for stages in fitted if stages not in there))


def name(link: TodayLink, load: str, hosts: str, control: str) -> str:
    """Return the key of a case."""
    return f"{link.name.replace(' ', '-')}/{load}/{hosts}:{control}"


def cases() -> Iterator[Case]:
    """Yield every case."""
    for link, load in product(LINKS, LOADS):
        for hosts in (each for each, loads in HOSTS.items() if load in loads):
            transport = f'{{ tcp = {{ profile = "linux", control = "{hosts}" }} }}'
            for stages in controls(link, hosts):
                key = name(link, load, hosts, "+".join(stages))
                yield _case(key, link, load, transport, list(_stages(link, load, stages)))
        for control, (transport, (stage, law)) in OWN_HOSTS.items():
            # an endless file in one burst would be a flood; browsers speak TCP
            if (control, load) == ("blitz", "greedy") or load == "pages" or link.name != "venue":
                continue
            key = name(link, load, "own", control)
            yield _case(key, link, load, transport, [(f"port.bottleneck.{stage}", law)])
    yield from taken_away()


def taken_away() -> Iterator[Case]:
    """Yield `TAKEN_FROM` without each part that may be the cause of what it loses."""
    moving = next(link for link in LINKS if link.path)
    transport = '{ tcp = { profile = "linux", control = "cubic" } }'
    whole = list(_stages(moving, "greedy", ("tide",)))
    for part, end in TAKEN_AWAY.items():
        key = f"{TAKEN_FROM}, {part}"
        if end:
            still = tuple(each for each in moving.path if not each[0].endswith(end))
            yield _case(key, replace(moving, path=still), "greedy", transport, whole)
        else:
            law = f'{{ law = "tide", admit = "connections", {in_toml("onset")} }}'
            gate = ("port.bottleneck.gate", law)
            yield _case(key, moving, "greedy", transport, [gate])


def _stages(link: TodayLink, load: str, stages: tuple[str, ...]) -> Iterator[Setting]:
    for stage in stages:
        if stage in GATES:
            opener = ', opener = "syn-ack"' if load in ("downloads", "pages") else ""
            yield "port.bottleneck.gate", f"{{ {GATES[stage]}{opener} }}"
        else:
            law = QUEUES[stage].replace("XM", str(link.buffer_packets // 2))
            yield "port.bottleneck.queue", law


def _case(key: str, link: TodayLink, load: str, transport: str, control: list[Setting]) -> Case:
    offered = link.capacity * {"sessions": 2.0, "greedy": 0.5, "downloads": 1.5, "pages": 1.5}[load]
    mean_kb = link.mean_kb
    if load == "pages":
        offered, mean_kb = offered * mean_kb / PAGE_KB, 12
    settings: list[Setting] = [
        ("duration", f"{link.duration_s}s"),
        ("warmup", f"{link.warmup_s}s"),
        ("topology.dumbbell.bottleneck.rate", f"{link.mbit}Mbit"),
        ("topology.dumbbell.bottleneck.delay", f"{link.rtt_ms // 2 - 2}ms"),
        ("topology.dumbbell.bottleneck.buffer", f"{link.buffer_ms}ms"),
        ("traffic.web.arrivals.poisson", f"{offered:g}/s"),
        ("traffic.web.size.pareto.mean", f"{mean_kb}kB"),
        ("traffic.web.transport", transport),
        *link.path,
        *control,
    ]
    if load == "greedy":
        settings.append(("traffic.long.transport", transport))
    if load == "downloads":
        settings += [("traffic.web.direction", "download"), ("traffic.web.patience", "10s")]
    if load == "pages":
        settings += [("traffic.web.pages", PAGE), ("traffic.web.patience", "10s")]
    variants = ("greedy",) if load == "greedy" else ()
    weight = 1.0 + link.mbit / 50
    return Case(key, "link.toml", variants, tuple(settings), weight=weight)
