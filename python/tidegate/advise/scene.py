"""The scenario of a link and its people, as the user can run it: one text, with its controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.advise.facts import DOWN, UP
from tidegate.advise.fit import LEAST_BUFFER, SHAPE
from tidegate.errors import UsageError
from tidegate.scenario import toml
from tidegate.scenario.real_gate import REAL_GATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.advise.fit import Link
    from tidegate.advise.people import People

ACCESS = "10Gbit"
"""What is no bottleneck."""
NOW, FQ, CAKE, TIDE, BOTH = "now", "fq_codel", "cake", "tide", "cake+tide"
CONTROLS = (NOW, CAKE, FQ, TIDE, BOTH)
"""Of those that are as good as each other the first is tried first: it is the least to type."""
SAYS = {
    NOW: "as it is",
    FQ: "fq_codel under HTB, both directions",
    CAKE: "CAKE, both directions",
    TIDE: "the gate `tide`, by visits, at the downlink",
    BOTH: "CAKE in both directions, and the gate at the downlink",
}
DOWN_PORT, UP_PORT = "link2", "link2.reverse"
"""Where a router controls the two directions: at its inner interface, and at its outer one before
the modem, whose queue is that of `link1.reverse`."""


@dataclass(frozen=True)
class Times:
    """How long is simulated."""

    duration_s: float = 80.0
    warmup_s: float = 20.0


BUDGET_BITS = 1.2e10
"""Bits that a run may carry, so that all answer in about a minute on two cores."""
SHORTEST = Times(40.0, 15.0)


def times(link: Link) -> Times:
    """Return the time of a run: shorter on faster links."""
    total = sum(way.rate.value for way in (link.down, link.up) if way.rate)
    seconds = min(Times().duration_s, max(SHORTEST.duration_s, BUDGET_BITS / max(total, 1.0)))
    return Times(round(seconds), Times().warmup_s if seconds > 60 else SHORTEST.warmup_s)


def controls(link: Link) -> tuple[str, ...]:
    """Return what is compared on a link; CAKE is no other where it shapes both ways already."""
    now = _variant(NOW, link)
    return tuple(name for name in CONTROLS if name == NOW or _variant(name, link) != now)


def text(link: Link, who: People, length: Times, made_by: str = "") -> str:
    """Return the scenario; each control is a variant."""
    head = [f"# {made_by}\n"] if made_by else []
    parts = [_lines(_tables(link, who, length))]
    parts += [_lines(_variant(name, link), "variant", name) for name in controls(link)]
    return "\n".join([*head, *parts])


def under(link: Link, who: People, length: Times, control: str) -> str:
    """Return the scenario with one control in it."""
    tables = _tables(link, who, length)
    _merge(tables, _variant(control, link))
    return _lines(tables)


def _lines(table: dict[str, Any], *path: str) -> str:
    """Return a table as text: one section, or as a document of sections without a path."""
    if not path:
        plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
        sections = {key: value for key, value in table.items() if isinstance(value, dict)}
        parts = ["".join(f"{key} = {toml.inline(value)}\n" for key, value in plain.items())]
        parts += [_lines(value, key) for key, value in sections.items()]
        return "\n".join(parts)
    lines = [f"[{toml.key(*path)}]"]
    lines += [f"{toml.key(*where)} = {toml.inline(value)}" for where, value in _leaves(table)]
    return "\n".join(lines) + "\n"


def _leaves(table: dict[str, Any], *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what a table holds, with its path; a law, or a link, is written on one line."""
    for key, value in table.items():
        deeper = isinstance(value, dict) and key not in ("queue", "gate", "access")
        if deeper:
            yield from _leaves(value, *path, key)
        else:
            yield (*path, key), value


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _tables(link: Link, who: People, length: Times) -> dict[str, Any]:
    """Return the scenario without a control: the line of the provider, the router, the people."""
    return {
        "name": f"{who.counted}, {who.place}",
        "duration": _time(length.duration_s),
        "warmup": _time(length.warmup_s),
        "guests": {
            "place": who.place,
            "people": who.number,
            "begin": _time(length.warmup_s),
        },
        "topology": {
            "tandem": {
                "users": "right",
                "access": {"rate": "1Gbit", "delay": _time(_host_s(link))},
                "links": _links(link, {"rate": ACCESS}),
            }
        },
    }


def _links(link: Link, inside: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the provider's line, and the way from the router to the people."""
    down, up, rtt = _known(link)
    host_s = _host_s(link)
    line = {
        "rate": _rate(down),
        "delay": _time(rtt / 2 - 3 * host_s),
        "buffer": _buffer(link, DOWN),
        **_loss(link, DOWN),
        "reverse": {"rate": _rate(up), "buffer": _buffer(link, UP), **_loss(link, UP)},
    }
    return [line, {"delay": _time(host_s), **inside}]


def _host_s(link: Link) -> float:
    """Return the delay of a host's own link, which every path has twice each way."""
    return min(0.0005, _known(link)[2] / 16)


def _known(link: Link) -> tuple[float, float, float]:
    """Return the rates of the link, down and up, and the round trip."""
    down, up, rtt = link.down.shaped_bps, link.up.shaped_bps, link.rtt_s
    if down is None or up is None or rtt is None:
        raise UsageError(
            "The link is not known well enough to simulate it.", "\n".join(link.unknown)
        )
    return down / SHAPE, up / SHAPE, max(rtt.value, 1e-4)


def _variant(name: str, link: Link) -> dict[str, Any]:
    """Return the settings of a control, as a router has it in both directions."""
    down, up, _ = _known(link)
    shaped = (SHAPE * down, SHAPE * up)
    if name == NOW:
        return _as_it_is(link, shaped)
    if name == FQ:
        law = {"queue": {"law": "fq-codel"}}
        limit = {"buffer": "10240packets"}
        reverse = {"rate": _rate(shaped[1]), **limit}
        inside: dict[str, Any] = {"rate": _rate(shaped[0]), **limit, "reverse": reverse}
        return _inside(link, inside, {DOWN_PORT: law, UP_PORT: law})
    if name == TIDE:
        inside = {"rate": _rate(shaped[0]), "buffer": GATE_BUFFER, "reverse": {"rate": ACCESS}}
        if 0.1 * shaped[0] / 8 < LEAST_GATE_BUFFER:
            inside["buffer"] = f"{LEAST_GATE_BUFFER}B"
        return _inside(link, inside, {DOWN_PORT: {"gate": GATE}})
    ports: dict[str, Any] = {
        DOWN_PORT: {"queue": _cake(DOWN, shaped[0])},
        UP_PORT: {"queue": _cake(UP, shaped[1])},
    }
    if name == CAKE:
        return {"port": ports}
    ports[DOWN_PORT]["gate"] = GATE
    return _inside(link, {"rate": _rate(shaped[0]), "reverse": {"rate": ACCESS}}, ports)


def _inside(link: Link, inside: dict[str, Any], ports: dict[str, Any]) -> dict[str, Any]:
    return {"topology": {"tandem": {"links": _links(link, inside)}}, "port": ports}


def _as_it_is(link: Link, shaped: tuple[float, float]) -> dict[str, Any]:
    """Return what shapes already: CAKE, as far as `tc` has shown it."""
    ports = {}
    for name, port, rate in zip((DOWN, UP), (DOWN_PORT, UP_PORT), shaped, strict=True):
        if link.way(name).law == "cake":
            ports[port] = {"queue": _cake(name, rate)}
    return {"port": ports} if ports else {}


def _cake(direction: str, rate: float) -> dict[str, Any]:
    hosts = "dual-dsthost" if direction == DOWN else "dual-srchost"
    return {"law": "cake", "bandwidth": _rate(rate), "isolation": hosts}


LAW = {"law": "tide", "admit": "visits"}
GATE = {**LAW, **REAL_GATE}
"""As a real gate has it by default; the gate's file says the same (`tidegate.advise.router`)."""


GATE_BUFFER, LEAST_GATE_BUFFER = "100ms", 15_000
"""The buffer of a gate that shapes, by default (`shape_buffer` of its file)."""


def _buffer(link: Link, direction: str) -> str:
    """Return the buffer of a direction."""
    rate = (link.way(direction).shaped_bps or 0.0) / SHAPE
    queue = link.way(direction).queue_s
    seconds = queue.value if queue else 0.0
    return f"{max(LEAST_BUFFER, round(seconds * rate / 8))}B"


def _loss(link: Link, direction: str) -> dict[str, float]:
    loss = link.way(direction).loss
    return {"loss": round(loss.value, 6)} if loss and loss.value > 0 else {}


def _rate(bps: float) -> str:
    return f"{max(1, round(bps / 1e3))}kbit"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.6g}ms"
