"""What a scenario has that real hosts of this machine cannot have, with its place and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.hosts.addresses import asks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
OURS = ("bottleneck", "bottleneck.reverse")
OTHERS = "compare other classes alone: --class NAME"


@dataclass(frozen=True)
class Lack:
    """Something of a scenario that real hosts do not have."""

    place: str
    what: str
    remedy: str
    refused: bool = True
    """Whether there is no comparison with it; else what is compared differs in it."""

    def __str__(self) -> str:
        """Return it as a message."""
        return f"{self.place}: {self.what}\n  {self.remedy}"


def controls() -> tuple[str, ...]:
    """Return the congestion controls of this kernel."""
    return tuple(CONTROLS.read_text(encoding="utf-8").split()) if CONTROLS.exists() else ()


def lacking(scenario: Mapping[str, Any], kernel: Sequence[str]) -> list[Lack]:
    """Return what real hosts lack of an effective scenario; `kernel`: the controls that it has."""
    found = [*_topology(scenario), *_ports(scenario.get("port", {}))]
    for name, each in scenario["traffic"].items():
        found += _traffic(f"traffic.{name}", each, kernel)
        found += _way(f"traffic.{name}", each, scenario["topology"].get("dumbbell", {}))
    for change in scenario.get("change", []):
        where = str(change["what"])
        if where.partition(".")[0] not in {"bottleneck", "traffic"}:
            what = f"`{where}` changes, and only the bottleneck is a link here"
            found.append(Lack("change", what, "leave the change out", refused=False))
    return found


def _topology(scenario: Mapping[str, Any]) -> Iterator[Lack]:
    dumbbell = scenario["topology"].get("dumbbell")
    if dumbbell is None:
        yield Lack(
            "topology",
            "real hosts are two here, with one link between them",
            "write a dumbbell; `tidegated emulate --port NAME` carries one link of any topology",
        )
        return
    if dumbbell["pairs"] > 1:
        yield Lack(
            "topology.dumbbell.pairs",
            f"{dumbbell['pairs']} pairs of hosts are one pair here, whose timers fire together",
            "--set topology.dumbbell.pairs=1 simulates one pair too",
            refused=False,
        )
    if any(dumbbell["access"].get("loss", {}).values()):
        yield Lack(
            "topology.dumbbell.access.loss",
            "the links of the hosts have their delay here, and lose nothing",
            "put the loss into the bottleneck: topology.dumbbell.bottleneck.loss",
        )


def _ports(ports: Mapping[str, Any]) -> Iterator[Lack]:
    for name, port in ports.items():
        place = f"port.{name}"
        if name not in OURS:
            what = "only the bottleneck carries real packets, in both directions"
            yield Lack(place, what, "leave it out, or simulate alone: tidegate run", refused=False)
            continue
        if "filter" in port:
            what = "a filter asks routers before it, and there are none here"
            yield Lack(f"{place}.filter", what, "leave it out; nine real nodes: tidegated testbed")
        for stage in ("gate", "queue"):
            if port.get(stage, {}).get("law") == "python":
                what = "a law in Python runs in the simulator alone"
                yield Lack(f"{place}.{stage}", what, "name a law that tidegate has")
        yield from _addresses(place, name, port)
        if (law := port.get("stamp", {}).get("law", "none")) != "none":
            what = f"hosts of Linux do not read what `{law}` writes into headers"
            remedy = f"--set 'port.\"{name}\".stamp.law=none'"
            yield Lack(f"{place}.stamp", what, remedy, refused=False)


def _addresses(place: str, name: str, port: Mapping[str, Any]) -> Iterator[Lack]:
    quoted = f'port."{name}"' if "." in name else place
    remedy = f"--set '{quoted}.gate.admit=connections' judges each session by itself"
    admits = asks(port)
    if admits == "clients":
        what = "all sessions come from one address here: the gate would see one client"
        yield Lack(f"{place}.gate.admit", what, remedy)
    elif admits is not None:
        law = port["gate"]["law"]
        what = f"`{law}` asks which client a session is of, and all come from one address here"
        what = f"{what}; so they do in the simulator, for this comparison"
        yield Lack(f"{place}.gate.admit", what, remedy, refused=False)


def _way(place: str, said: Mapping[str, Any], dumbbell: Mapping[str, Any]) -> Iterator[Lack]:
    to_the_right = "upload" if dumbbell.get("users") == "left" else "download"
    if "flows" not in said and said.get("direction", to_the_right) != to_the_right:
        what = "all data goes from left to right here"
        remedy = f'write opens = "sender" in place of {place}.direction, or {OTHERS}'
        yield Lack(f"{place}.direction", what, remedy)


def _other_load(said: Mapping[str, Any]) -> str:
    """Say what a class becomes by TCP, where that is another load."""
    endless = said.get("size") == "unlimited" or "size" not in said
    return ", another load: it sends as fast as the path lets it" if endless else ""


def _traffic(place: str, said: Mapping[str, Any], kernel: Sequence[str]) -> Iterator[Lack]:
    for key, what in (
        ("video", "viewers of video are programs of the simulator"),
        ("pages", "users who load pages are programs of the simulator"),
    ):
        if key in said:
            remedy = f"{OTHERS}; real programs: tidegated emulate FILE -- COMMAND"
            yield Lack(f"{place}.{key}", what, remedy)
    if "receiver" in said:
        what = "receivers of this kernel do as TCP says"
        yield Lack(f"{place}.receiver", what, f"leave it out, or {OTHERS}")
    if said.get("opaque_share"):
        what = "routers can read the headers of all real sessions here"
        yield Lack(f"{place}.opaque_share", what, "leave it out", refused=False)
    transport = said["transport"]
    if "tcp" not in transport:
        [name] = transport
        what = f"real sessions are TCP here, not {name}"
        remedy = f"{OTHERS}; or --set {place}.transport=tcp{_other_load(said)}"
        yield Lack(f"{place}.transport", what, remedy)
        return
    tcp = transport["tcp"]
    if kernel and tcp["control"] not in kernel:
        what = f"this kernel has no control {tcp['control']}, but {', '.join(kernel)}"
        remedy = f"--set {place}.transport.tcp.control={kernel[0]}, or load its module as root"
        yield Lack(f"{place}.transport.tcp.control", what, remedy)
    if not str(tcp["profile"]).startswith("linux"):
        what = f"real hosts are this kernel's, not those of `{tcp['profile']}`"
        remedy = f"--set {place}.transport.tcp.profile=linux simulates hosts of Linux"
        yield Lack(f"{place}.transport.tcp.profile", what, remedy, refused=False)
