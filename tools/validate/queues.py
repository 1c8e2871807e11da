"""The cases of ns-3: queues that control the delay, and current congestion controls.

The network is a dumbbell. The access links are faster than the bottleneck by a factor that is not
whole, so that few packets arrive at the instant of a departure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tools.validate.dumbbell import Case, streams

HEADER = 42
"""Headers of a packet in ns-3, in bytes: TCP, IPv4 and two of its point-to-point link."""

LONG = ("goodput_mbit_s", "jain", "queue_mean", "drops", "retransmitted")
"""What is compared of flows without end."""

MARKED = ("goodput_mbit_s", "jain", "queue_mean", "marked", "drops", "retransmitted")
"""What is compared of flows without end where packets are marked."""

SHORT = ("completed_per_s", "fct_mean_s", "fct_p95_s", "queue_mean", "drops", "retransmitted")
"""What is compared where flows end."""

MIXED = ("goodput_mbit_s", "fct_mean_s", "fct_p95_s", "queue_mean", "drops", "retransmitted")
"""What is compared where both kinds share the link."""

SOURCES = {"drop-tail": "Fifo", "codel": "CoDel", "fq-codel": "FqCoDel", "pie": "Pie"}
"""Queues: name in tidegate, name in ns-3."""

CONTROLS = {"reno": "RfcReno", "cubic": "Cubic", "bbr": "RfcBbr"}
"""Controls: name in tidegate, name in ns-3; RfcReno and RfcBbr are of controls.h."""

UNCHANGED = {"reno": "NewReno", "cubic": "Cubic", "bbr": "Bbr"}
"""The controls of ns-3 itself."""


@dataclass(frozen=True)
class Sender:
    """A sender's control and how it repairs."""

    control: str = "reno"
    sack: bool = True
    delayed_ack: bool = False
    ecn: bool = False
    initial_ssthresh: int = 0
    """In segments; 0: none."""
    plain: bool = False
    """The control and the scoreboard as ns-3 has them, not as RFCs and drafts do."""

    def document(self) -> dict[str, Any]:
        """Return the keys of a scenario document."""
        keys: dict[str, Any] = {
            "profile": "rfc",
            "header": f"{HEADER}B",
            "lost_syn": "nothing",  # ns-3 starts as if no SYN had been lost
            "initial_ssthresh": self.initial_ssthresh or "none",
            "recovery": "sack" if self.sack else "newreno",
            "delayed_ack": self.delayed_ack,
            "ecn": self.ecn,
        }
        # Reno is the control of the profile
        return {"tcp": keys | ({} if self.control == "reno" else {"control": self.control})}

    def settings(self) -> dict[str, str]:
        """Return settings of dumbbell.cc."""
        return {
            "control": (UNCHANGED if self.plain else CONTROLS)[self.control],
            "corrected": str(int(self.sack and not self.plain)),
            "sack": str(int(self.sack)),
            "delayed_ack": str(int(self.delayed_ack)),
            "ecn": str(int(self.ecn)),
            "initial_ssthresh": str(self.initial_ssthresh),
        }


@dataclass(frozen=True, kw_only=True)
class Network:
    """A dumbbell; the way back is never full."""

    mbit: int = 10
    rtt_ms: int = 50
    buffer: int = 100
    """Waiting packets."""
    loss: float = 0.0
    """Share of data packets that the bottleneck loses at random after their transmission."""
    queue: str = "drop-tail"
    sender: Sender = field(default_factory=Sender)

    def document(self) -> dict[str, Any]:
        """Return the keys of a scenario document."""
        law: dict[str, Any] = {"law": self.queue}
        if self.queue != "drop-tail":
            law["ecn"] = self.sender.ecn
        if self.queue == "pie":
            # ns-3 does not drop from a queue of two packets, tidegate from two of the mean size
            law["mean_pktsize"] = f"{1460 + HEADER}B"
        if self.queue == "fq-codel":
            law["flows"] = 65536
            # one packet, as ns-3's quantum of 1500 B without the link's header is
            law["quantum"] = f"{1460 + HEADER}B"
        bottleneck: dict[str, Any] = {
            "rate": f"{self.mbit}Mbit",
            "delay": f"{self.delay_ms}ms",
            "buffer": f"{self.buffer}packets",
        }
        if self.loss:
            bottleneck["loss"] = {"data": self.loss, "ack": 0.0}
        access = {"rate": f"{self.access_mbit}Mbit", "delay": "1ms"}
        dumbbell = {"pairs": 10, "access": access, "bottleneck": bottleneck}
        return {
            "topology": {"dumbbell": dumbbell},
            "port": {"bottleneck": {"queue": law}},
        }

    def settings(self) -> dict[str, str]:
        """Return settings of dumbbell.cc."""
        return {
            "rate": f"{self.mbit}Mbps",
            "delay": f"{self.delay_ms}ms",
            "access_rate": f"{self.access_mbit}Mbps",
            "access_delay": "1ms",
            "pairs": "10",
            "buffer": str(self.buffer),
            "loss": str(self.loss),
            "queue": SOURCES[self.queue],
            **self.sender.settings(),
        }

    @property
    def delay_ms(self) -> float:
        """Half of the round trip, less the delays of both access links."""
        return self.rtt_ms / 2 - 2

    @property
    def access_mbit(self) -> int:
        """Nearly ten times the bottleneck."""
        return 10 * self.mbit - 3

    @property
    def about(self) -> str:
        """Return rate, RTT, buffer and loss in words."""
        words = [f"{self.mbit} Mbit/s", f"RTT {self.rtt_ms} ms", f"{self.buffer} packets"]
        if self.loss:
            words.append(f"{self.loss:.1%} of the data lost")
        return ", ".join(words)


def _case(
    name: str,
    about: str,
    network: Network,
    traffic: dict[str, dict[str, Any]],
    measures: tuple[str, ...],
    *,
    seconds: int = 40,
    seeds: int = 5,
) -> Case:
    transport = network.sender.document()
    document = {
        "name": name,
        "duration": f"{seconds}s",
        **network.document(),
        "traffic": {key: {**each, "transport": transport} for key, each in traffic.items()},
    }
    settings = {"until": str(seconds), **network.settings()}
    plain = replace(network, sender=replace(network.sender, plain=True))
    unchanged = {"until": str(seconds), **plain.settings()}
    return Case(
        name,
        f"{about}: {network.about}, {seconds} s",
        document,
        settings,
        seeds,
        measures,
        "ns-3",
        None if unchanged == settings else unchanged,
    )


def idle3(control: str, size: int) -> Case:
    """Return one flow on an idle link."""
    return _case(
        f"idle-{control}",
        f"one {control} flow of {size} B on an idle link",
        Network(buffer=1000, sender=Sender(control)),
        {"all": {"arrivals": {"at": ["0s"]}, "size": f"{size}B"}},
        ("fct_mean_s",),
        seconds=10,
        seeds=1,
    )


IDLE3 = tuple(
    (control, size) for control in ("reno", "cubic") for size in (1000, 10_000, 100_000, 200_000)
)
"""Controls and file sizes of single flows on an idle link."""


def _long(name: str, count: int, network: Network, about: str, *, seeds: int = 5) -> Case:
    flows = {1: "one flow", 4: "four flows", 10: "ten flows"}[count]
    measures = MARKED if network.sender.ecn else LONG
    traffic = {"long": streams(count)}
    return _case(name, f"{flows} without end, {about}", network, traffic, measures, seeds=seeds)


def _short(name: str, network: Network, about: str) -> Case:
    traffic = {"web": _web(22)}
    about = f"22 files/s of 50 kB (exponential), {about}"
    return _case(name, about, network, traffic, SHORT, seeds=8)


def _mixed(name: str, network: Network, about: str) -> Case:
    traffic = {"long": streams(4), "web": _web(5)}
    about = f"four flows without end and 5 files/s of 50 kB (exponential), {about}"
    return _case(name, about, network, traffic, MIXED, seeds=8)


def _web(rate: int) -> dict[str, Any]:
    return {"arrivals": {"poisson": f"{rate}/s"}, "size": {"exponential": {"mean": "50kB"}}}


PLAIN = Network()
DEEP = Network(buffer=1000)
"""A buffer that only queues which control the delay keep from filling."""


def _under(queue: str, title: str) -> tuple[Case, ...]:
    """Return the cases of a queue that controls the delay.

    Flows without end start at their share, so that the first slow start does not decide the row.
    """
    network = replace(DEEP, queue=queue)
    alone = replace(network, sender=Sender(initial_ssthresh=40))
    among = replace(network, sender=Sender(initial_ssthresh=5))
    marks = replace(network, sender=Sender(initial_ssthresh=5, ecn=True))
    return (
        _long(f"{queue}-one", 1, alone, f"Reno over {title}"),
        _long(f"{queue}-ten", 10, among, f"Reno over {title}"),
        _long(f"{queue}-ten-ecn", 10, marks, f"Reno over {title} with ECN"),
        _short(f"{queue}-files", network, f"Reno over {title}"),
        _mixed(f"{queue}-mixed", network, f"Reno over {title}"),
    )


FAR = Network(mbit=20, rtt_ms=100, buffer=167)
"""One bandwidth-delay product."""

CUBIC = replace(FAR, sender=Sender("cubic"))

BBR = replace(FAR, buffer=1000, sender=Sender("bbr"))
"""BBR alone never fills this buffer."""


def _plain(queue: str, title: str) -> Case:
    """Return the case of ns-3's unchanged NewReno."""
    sender = Sender(initial_ssthresh=5, plain=True)
    network = replace(DEEP, queue=queue, sender=sender)
    return _long(f"{queue}-ten-plain", 10, network, f"ns-3's own NewReno over {title}")


CASES3 = (
    _long("reno-one", 1, PLAIN, "Reno over drop-tail"),
    _long("reno-ten", 10, PLAIN, "Reno over drop-tail"),
    _long(
        "reno-ten-newreno",
        10,
        replace(PLAIN, sender=Sender(sack=False, initial_ssthresh=10)),
        "NewReno without SACK over drop-tail",
    ),
    _long(
        "reno-ten-delayed",
        10,
        replace(PLAIN, sender=Sender(delayed_ack=True)),
        "Reno with delayed ACKs over drop-tail",
    ),
    _long("reno-lossy", 4, replace(FAR, buffer=1000, loss=0.005), "Reno over drop-tail"),
    _short("reno-files", PLAIN, "Reno over drop-tail"),
    *_under("codel", "CoDel"),
    *_under("fq-codel", "FQ-CoDel"),
    *_under("pie", "PIE"),
    _plain("codel", "CoDel"),
    _plain("pie", "PIE"),
    _long("cubic-one", 1, CUBIC, "CUBIC over drop-tail"),
    _long("cubic-four", 4, CUBIC, "CUBIC over drop-tail"),
    _long("cubic-lossy", 4, replace(CUBIC, buffer=1000, loss=0.005), "CUBIC over drop-tail"),
    _long("bbr-one", 1, BBR, "BBR over drop-tail"),
    # whether the queue ever empties again depends on the seed
    _long("bbr-four", 4, BBR, "BBR over drop-tail", seeds=16),
)
