"""What is simulated: seven networks of the paper and an eighth, each at three bottlenecks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from tidegate.papers.case import Case, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.scenario.document import Setting

PACKET, PAYLOAD = 500, 460
FILES, LARGE_FILES = 2000, 500
"""Files that a run lasts for, completed or, where fewer are offered, offered; of 1 MB fewer."""
LONGEST_S = 60.0
WARMUP_S = 2.0
STEPS = (-1.0, -0.6, -0.4, -0.25, -0.15, -0.075, 0.0)
"""log10 of the arrival rate over the one that fills the bottleneck."""
OVERLOAD = 0.1
"""The same in overload, 1.26 times what fills it: run where a claim is about that."""
OVERLOADED = {"ref": (30, 90, 150), "big": (30,)}
CONTROLS = ("blitz", "reno")
SHARES = (0.2, 0.6, 1.0)
"""Bottleneck over network bandwidth."""


@dataclass(frozen=True)
class Net:
    """A network of the paper; `delay_ms` is its D, a round trip."""

    key: str
    name: str
    mbit: int
    delay_ms: float
    size: int

    def bottlenecks(self) -> tuple[int, ...]:
        """Return the bottlenecks, Mbit/s."""
        return tuple(round(share * self.mbit) for share in SHARES)

    @property
    def files(self) -> int:
        """The files that a run lasts for."""
        return LARGE_FILES if self.size > 100_000 else FILES

    def saturation(self, mbit: int) -> float:
        """Return how many files a second fill a bottleneck, headers included."""
        packets = -(-self.size // PAYLOAD)
        return mbit * 1e6 / (8.0 * (self.size + packets * (PACKET - PAYLOAD)))

    def bdp(self, mbit: int) -> float:
        """Return the product of bandwidth and round trip at a bottleneck, bytes."""
        return mbit * 1e6 * self.delay_ms * 1e-3 / 8.0

    def ratio(self, mbit: int) -> float:
        """Return the file size over that product."""
        return self.size / self.bdp(mbit)


NETS = {
    net.key: net
    for net in (
        Net("ref", "150 Mbit/s, 30 ms, 100 kB", 150, 30.0, 100_000),
        Net("fast", "1 Gbit/s, 30 ms, 100 kB", 1000, 30.0, 100_000),
        Net("small", "150 Mbit/s, 1.8 ms, 100 kB", 150, 1.8, 100_000),
        Net("slow", "15 Mbit/s, 30 ms, 100 kB", 15, 30.0, 100_000),
        Net("big", "150 Mbit/s, 30 ms, 1 MB", 150, 30.0, 1_000_000),
        Net("bigfast", "1 Gbit/s, 30 ms, 1 MB", 1000, 30.0, 1_000_000),
        Net("tiny", "150 Mbit/s, 30 ms, 10 kB", 150, 30.0, 10_000),
        Net("middle", "150 Mbit/s, 3 ms, 100 kB", 150, 3.0, 100_000),
    )
}
PAPER = ("ref", "fast", "small", "slow", "big", "bigfast", "tiny")
READ = ("ref", "fast", "small")
"""Networks that are also run under the other readings of D and of the retransmission timer."""
READINGS = {"-1s": (0.5, "1s"), "-one-way-1s": (1.0, "1s")}
"""Readings by the suffix of their cases: D as a multiple of the delay one way, and least RTO."""
THRESHOLDS = {"-64k": "131", "-32k": "65"}
"""Other ends of TCP's first slow start by the suffix of their cases, segments."""
THRESHOLD = "traffic.files.transport.tcp.initial_ssthresh"
SHORTER = "-16k"
"""The same, in the slow network: an end at 32 segments, before a window fills path and buffer."""
CLOCK = "-clock"
"""Suffix of the cases in which TCP's clock ticks every 500 ms; it times a packet a round trip."""
CLOCKED = ("ref", "fast")
PARTIAL = (0.1, 0.5, 0.9)
"""Shares of the files that Blitz sends, TCP the others."""
TAIL = "-tail"
"""Suffix of the cases in which Blitz meets a drop-tail queue."""


def key(net: str, mbit: int, control: str, step: float, kind: str = "") -> str:
    """Return the key of a case."""
    return f"{net}{kind}/{mbit}/{control}/{step:g}"


def keys(net: str, mbit: int, control: str, kind: str = "") -> tuple[str, ...]:
    """Return the keys of a curve over the arrival rate."""
    return tuple(key(net, mbit, control, step, kind) for step in STEPS)


def beyond(net: str, mbit: int, control: str, kind: str = "") -> tuple[str, ...]:
    """Return the keys of a curve that goes on into overload."""
    return (*keys(net, mbit, control, kind), key(net, mbit, control, OVERLOAD, kind))


def window(net: Net, mbit: int) -> int:
    """Return an initial window that grows with F/BDP: BDP x / (1 + x) for x = F/BDP, segments.

    It is the whole file where that is small compared with the path, and the path's
    product where the file is large.
    """
    x = net.ratio(mbit)
    return max(1, round(net.bdp(mbit) * x / (1.0 + x) / PACKET))


def _reading(net: Net, times: float, control: str, floor: str) -> tuple[Setting, ...]:
    transport = "blitz" if control == "blitz" else "tcp"
    return (
        ("topology.dumbbell.bottleneck.delay", f"{net.delay_ms * times:g}ms"),
        (f"traffic.files.transport.{transport}.min_rto", floor),
    )


def _case(
    net: Net,
    mbit: int,
    control: str,
    step: float,
    kind: str = "",
    *more: Setting,
    seeds: int | None = None,
) -> Case:
    full = net.saturation(mbit)
    rate = full * 10.0**step
    duration = min(LONGEST_S, WARMUP_S + net.files / min(rate, full))
    settings: tuple[Setting, ...] = (
        ("duration", f"{duration:.3g}s"),
        ("topology.dumbbell.access.rate", f"{net.mbit}Mbit"),
        ("topology.dumbbell.bottleneck.rate", f"{mbit}Mbit"),
        ("topology.dumbbell.bottleneck.delay", f"{net.delay_ms / 2:g}ms"),
        ("traffic.files.arrivals.poisson", f"{rate:.6g}/s"),
        ("traffic.files.size", f"{net.size}B"),
        *more,
    )
    packets = min(net.files, rate * LONGEST_S) * net.size / PAYLOAD
    name = key(net.key, mbit, control, step, kind)
    weight = packets / duration / 1e4
    variant = "blitz" if control == "blitz" else "reno"
    return Case(name, "files.toml", (variant,), settings, seeds, weight)


def mixed(share: float, queue: str) -> str:
    """Return the key of a case in which Blitz has a share of the files."""
    return f"mixed/{queue}/{share:g}"


def _mixed(share: float, queue: str) -> Case:
    """Return the reference network at 90 Mbit/s, 0.71 of full, with two kinds of senders."""
    net, step = NETS["ref"], -0.15
    rate = net.saturation(90) * 10.0**step
    reno = (
        '{ tcp = { recovery = "reno", byte_counting = 0, limited_transmit = false,'
        ' initial_window = 1, mss = "460B", header = "40B", handshake = false,'
        ' initial_rto = "3s", min_rto = "10ms", delayed_ack = false, timestamps = true } }'
    )
    more = (
        ("traffic.files.arrivals.poisson", f"{share * rate:.6g}/s"),
        (
            "traffic.others",
            f'{{ arrivals = {{ poisson = "{(1.0 - share) * rate:.6g}/s" }}, size = "{net.size}B",'
            f" transport = {reno} }}",
        ),
        ("port.bottleneck.queue", f'{{ law = "{queue}" }}'),
    )
    case = _case(net, 90, "blitz", step, "", *more, seeds=3)
    return replace(case, key=mixed(share, queue))


def _all() -> list[Case]:
    cases = []
    for net in NETS.values():
        for mbit in net.bottlenecks():
            cases += [_case(net, mbit, each, step) for each in CONTROLS for step in STEPS]
        top = net.mbit
        wide = ("traffic.files.transport.tcp.initial_window", str(window(net, top)))
        cases += [_case(net, top, "wide", step, "", wide) for step in STEPS]
    for name, (kind, (times, floor)) in product(READ, READINGS.items()):
        net = NETS[name]
        cases += [
            _case(net, mbit, each, step, kind, *_reading(net, times, each, floor), seeds=2)
            for mbit in net.bottlenecks()
            for each in CONTROLS
            for step in STEPS
        ]
    cases += [
        _case(net, mbit, "reno", step, kind, (THRESHOLD, end), seeds=3)
        for net in (NETS["ref"], NETS["big"])
        for kind, end in THRESHOLDS.items()
        for mbit in net.bottlenecks()
        for step in STEPS
    ]
    cases += [_case(NETS["slow"], 3, "reno", step, SHORTER, (THRESHOLD, "32")) for step in STEPS]
    clock = tuple(
        (f"traffic.files.transport.tcp.{name}", value)
        for name, value in (("tick", "500ms"), ("timestamps", "false"))
    )
    cases += [
        _case(NETS[name], mbit, "reno", step, CLOCK, *clock, seeds=3)
        for name in CLOCKED
        for mbit in NETS[name].bottlenecks()
        for step in STEPS
    ]
    cases += [_mixed(share, queue) for share in PARTIAL for queue in ("pushout", "drop-tail")]
    pareto = ("traffic.files.size", '{ pareto = { mean = "100kB", shape = 1.5 } }')
    ref = NETS["ref"]
    further = (*STEPS, OVERLOAD)
    cases += [
        _case(ref, 90, each, step, "-pareto", pareto) for each in CONTROLS for step in further
    ]
    cases += [
        _case(NETS[name], mbit, each, OVERLOAD)
        for name, mbits in OVERLOADED.items()
        for mbit in mbits
        for each in CONTROLS
    ]
    tail = ("port.bottleneck.queue", '{ law = "drop-tail" }')
    return cases + [_case(ref, 90, "blitz", step, TAIL, tail) for step in further]


def _beside(one: str, other: str) -> tuple[tuple[str, str], ...]:
    """Return the bottlenecks of two networks that have the same share, in the keys of cases."""
    both = zip(NETS[one].bottlenecks(), NETS[other].bottlenecks(), strict=True)
    return tuple((f"{one}/{mine}", f"{other}/{theirs}") for mine, theirs in both)


SETS: dict[str, Sequence[object]] = {
    "announced": tuple(f"{net.key}/{net.mbit}" for net in NETS.values()),
    "beyond": tuple(f"{step:g}" for step in (*STEPS, OVERLOAD)),
    "bottleneck": tuple(f"{net}/{mbit}" for net in PAPER for mbit in NETS[net].bottlenecks()),
    "clocked": tuple(f"{net}{CLOCK}/{mbit}" for net in CLOCKED for mbit in NETS[net].bottlenecks()),
    "control": CONTROLS,
    "network": tuple(f"{net}/{NETS[net].mbit}" for net in PAPER),
    **{
        name: tuple(f"{net}{kind}/{mbit}" for net in READ for mbit in NETS[net].bottlenecks())
        for name, kind in (("sooner", "-1s"), ("readings", "-one-way-1s"))
    },
    "threshold": tuple(
        f"{net}{kind}/{mbit}"
        for net in ("ref", "big")
        for kind in THRESHOLDS
        for mbit in NETS[net].bottlenecks()
    ),
    "sender": (("blitz", "blitz"), ("reno", "tcp")),
    "step": tuple(f"{step:g}" for step in STEPS),
    **{net: _beside(net, "ref") for net in ("fast", "small", "slow", "big", "tiny")},
    "bigfast": _beside("bigfast", "big"),
}
"""Parts of the keys of cases, by the name that `claims.csv` has for them."""

CASES = {case.key: case for case in _all()}

SCALE = Scale(
    quick=("setup", "fig3", "fig4l"),
    sensitive=("fig4l.ratio*", "fig4l.increasing", "fig4l.all_above", "fig5l"),
    sensitive_seeds=2,
    keep=("size_bytes", "start_s", "data_done_s", "closed_s"),
)
