"""One scenario for both simulators: a document for tidegate, settings of flows.tcl for ns-2."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NS2_2006 = "ns2-2006"
"""The profile of tidegate that has the defaults of the ns-2 that is packaged (2.35)."""

UNLIMITED = 1_000_000
"""A window that no flow reaches: ns-2 has no setting for none."""

SESSIONS = ("completed_per_s", "fct_mean_s", "drops", "retransmitted", "queue_mean")
"""What is compared where flows end."""

MINUTES = (
    "completed_per_s",
    "fct_mean_s",
    "goodput_mean_kbit_s",
    "size_mean_bytes",
    "drops",
    "retransmitted",
    "queue_mean",
)
"""The same, with the other measures of the tables of the paper on session control."""

STREAMS = ("departed_per_s", "drops", "retransmitted", "queue_mean")
"""What is compared where flows do not end."""

POWER = ("power", "completed_per_s", "fct_mean_s", "drops")
"""What is compared of the power of a network: throughput over completion time."""

ECN = ("departed_per_s", "marked", "drops", "retransmitted", "queue_mean")
"""What is compared where packets are marked."""


@dataclass(frozen=True)
class Case:
    """One scenario and what is compared of it."""

    name: str
    about: str
    document: dict[str, Any]
    settings: dict[str, str]
    seeds: int
    measures: tuple[str, ...]
    peer: str = "ns-2"
    """The other simulator."""
    unchanged: dict[str, str] | None = None
    """Settings of the other simulator without corrections, where `settings` has some."""


@dataclass(frozen=True)
class Tcp:
    """Reno as ns-2's FullTcp has it."""

    mss: int = 536
    window: int = 20
    ecn: bool = False
    profile: str = NS2_2006

    def document(self) -> dict[str, Any]:
        """Return the keys of a scenario document."""
        keys: dict[str, Any] = {
            "profile": self.profile,
            "mss": f"{self.mss}B",
            "window": self.window,
        }
        return {"tcp": keys | ({"ecn": True} if self.ecn else {})}

    def settings(self) -> dict[str, str]:
        """Return settings of flows.tcl."""
        return {"mss": str(self.mss), "window": str(self.window), "ecn": str(int(self.ecn))}


@dataclass(frozen=True)
class Red:
    """RED at the bottleneck, in packets; with marks where the transport understands them."""

    min_th: float
    max_th: float
    max_p: float
    gentle: bool
    w: float = 0.002
    ecn: bool = False

    def document(self) -> dict[str, Any]:
        """Return the keys of a scenario document."""
        return {"law": "red"} | vars(self)

    def settings(self) -> dict[str, str]:
        """Return settings of flows.tcl."""
        return {
            "queue": "RED",
            "min_thresh": str(self.min_th),
            "max_thresh": str(self.max_th),
            "max_p": str(self.max_p),
            "weight": str(self.w),
            "gentle": str(int(self.gentle)),
            "setbit": str(int(self.ecn)),
        }


@dataclass(frozen=True, kw_only=True)
class Dumbbell:
    """Pairs of hosts around one bottleneck; the way back is never full."""

    rate: str = "10Mbit"
    delay_ms: float = 98
    buffer: int = 217
    pairs: int = 10
    access: str = "100Mbit"
    access_delay_ms: float = 1
    loss: float = 0.0
    """Share of data packets that the bottleneck loses at random after their transmission."""
    ack_loss: float = 0.0
    """Share of acknowledgements that it loses on their way back."""
    tcp: Tcp = field(default_factory=Tcp)
    red: Red | None = None
    answer_rto_s: float | None = None
    """First timeout of the end of ns-2 that answers the SYN; None: that of the other end, as in
    tidegate."""
    wakes: bool = True
    """Whether ns-2's receivers check for a delayed ACK ten times a second. Only small files have
    delayed ACKs; with thousands of receivers the checks take a third of the time."""

    def document(self) -> dict[str, Any]:
        """Return the keys of a scenario document."""
        bottleneck: dict[str, Any] = {
            "rate": self.rate,
            "delay": f"{self.delay_ms}ms",
            "buffer": f"{self.buffer}packets",
        }
        if self.loss or self.ack_loss:
            bottleneck["loss"] = {"data": self.loss, "ack": self.ack_loss}
        access = {"rate": self.access, "delay": f"{self.access_delay_ms}ms"}
        document: dict[str, Any] = {
            "topology": {
                "dumbbell": {"pairs": self.pairs, "access": access, "bottleneck": bottleneck}
            }
        }
        if self.red is not None:
            document["port"] = {"bottleneck": {"queue": self.red.document()}}
        return document

    def settings(self) -> dict[str, str]:
        """Return settings of flows.tcl."""
        settings = {
            # ns-2 has no unit "Mbit"
            "rate": self.rate.removesuffix("it"),
            "delay": f"{self.delay_ms}ms",
            "access_rate": self.access.removesuffix("it"),
            "access_delay": f"{self.access_delay_ms}ms",
            "buffer": str(self.buffer),
            "pairs": str(self.pairs),
            "loss": str(self.loss),
            "ack_loss": str(self.ack_loss),
        }
        if self.answer_rto_s is not None:
            settings["answer_rto"] = f"{self.answer_rto_s:.9f}"
        if not self.wakes:
            settings["wake"] = "0"
        return (
            settings | self.tcp.settings() | (self.red.settings() if self.red is not None else {})
        )


def case(
    name: str,
    about: str,
    network: Dumbbell,
    traffic: dict[str, Any],
    measures: tuple[str, ...],
    *,
    seconds: int,
    seeds: int,
) -> Case:
    """Return one scenario for both; tidegate draws the flows, ns-2 gets the list."""
    document = {
        "name": name,
        "duration": f"{seconds}s",
        **network.document(),
        "traffic": {"all": {**traffic, "transport": network.tcp.document()}},
    }
    settings = {"until": str(seconds), **network.settings()}
    return Case(name, about, document, settings, seeds, measures)


def sessions(rate: float, mean: str = "10kB") -> dict[str, Any]:
    """Return Poisson arrivals of Pareto sizes (shape 1.5), `rate` a second."""
    size = {"pareto": {"mean": mean, "shape": 1.5}}
    return {"arrivals": {"poisson": f"{rate}/s"}, "size": size}


def streams(count: int) -> dict[str, Any]:
    """Return flows without end that start within 5 s."""
    return {"arrivals": {"uniform": count, "within": "5s"}, "size": "unlimited"}
