"""Queues of Linux as `tc -s qdisc` shows them, as text or as JSON (`tc -s -j qdisc`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidegate.advise.facts import DOWN, UP, Fact, What, share_of
from tidegate.scenario.tree import Tree, in_range, of_json

if TYPE_CHECKING:
    from collections.abc import Iterable

SHAPERS = ("cake", "htb", "tbf", "hfsc")
"""They send slower than the interface, where a rate is set."""
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_RATE = r"(\d+(?:\.\d+)?)([KMGT]?)bit"
_HEAD = re.compile(r"^\s*(?:qdisc|class) (\w+) [\w:]+", re.MULTILINE)


@dataclass
class Queue:
    """A queue as it stands in the file."""

    law: str
    interface: str
    text: str = ""
    rate: float | None = None
    sent: float = 0.0
    dropped: float = 0.0
    backlog: float | None = None
    waits_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Interfaces:
    """Which interface leads where."""

    outside: str = "wan0"
    inside: str = "lan0"

    def direction(self, name: str, among: Iterable[str] = ()) -> str:
        """Return which direction leaves by an interface; "": it is neither.

        `among`: all interfaces of the file. Downloads leave by the inner interface, or by an ifb:
        that which is called after the outer one, if one is.
        """
        if name == self.outside:
            return UP
        after = {each for each in among if each.startswith("ifb") and each.endswith(self.outside)}
        if name.startswith("ifb"):
            return DOWN if name in after or not after else ""
        return DOWN if name == self.inside else ""


def knows(text: str) -> bool:
    """Tell whether this is what `tc` prints of queues."""
    return bool(_HEAD.search(text[:2000]))


def knows_json(tree: Tree) -> bool:
    """Tell whether this is what `tc -j` prints of queues."""
    first = tree.value[0] if isinstance(tree.value, list) and tree.value else None
    return isinstance(first, dict) and "kind" in first and "handle" in first


def read(text: str, source: str, interfaces: Interfaces) -> list[Fact]:
    """Read the text."""
    queues: list[Queue] = []
    for line in text.splitlines():
        if head := _HEAD.match(line):
            name = re.search(r"\bdev (\S+)", line)
            queues.append(Queue(head[1], name[1] if name else ""))
        if queues:
            queues[-1].text += line + "\n"
    for queue in queues:
        _of_text(queue)
    return _facts(queues, source, interfaces)


def _of_text(queue: Queue) -> None:
    text = queue.text
    # a class of HTB is sure of its `rate`, and sends up to its `ceil`
    words = ("ceil", "bandwidth", "rate")
    found = next(filter(None, (re.search(rf"\b{word} {_RATE}", text) for word in words)), None)
    if found:
        queue.rate = in_range(float(found[1]) * _UNITS[found[2]], "bandwidth")
    if found := re.search(r"Sent \d+ bytes (\d+) pkts? \(dropped (\d+)", text):
        queue.sent, queue.dropped = (in_range(float(each), "Sent") for each in found.groups())
    if found := re.search(r"backlog (\d+)([KMG]?)b", text):
        queue.backlog = in_range(float(found[1]) * _UNITS[found[2]], "backlog")
    if found := re.search(r"^\s*av_delay(.*)$", text, re.MULTILINE):
        for value, unit in re.findall(r"(\d+(?:\.\d+)?)(us|ms|s)\b", found[1]):
            queue.waits_s.append(in_range(float(value) * _TIMES[unit], "av_delay", 0.0, 1e6))


def read_json(text: str, source: str, interfaces: Interfaces) -> list[Fact]:
    """Read the JSON."""
    queues = []
    for each in of_json(text).listed():
        name = each.at("dev").text() if each.has("dev") else ""
        queue = Queue(each.at("kind").text(), name)
        options = each.at("options") if each.has("options") else None
        for key in ("rate", "bandwidth", "ceil"):
            # bytes a second, or the word "unlimited"
            if options is not None and options.has(key):
                rate = options.at(key)
                queue.rate = None if isinstance(rate.value, str) else 8 * rate.number()
        queue.sent = each.at("packets").number() if each.has("packets") else 0.0
        queue.dropped = each.at("drops").number() if each.has("drops") else 0.0
        queue.backlog = each.at("backlog").number() if each.has("backlog") else None
        for tin in each.at("tins").listed() if each.has("tins") else []:
            queue.waits_s.append(tin.at("avg_delay_us").number(0.0, 1e12) * 1e-6)
        queues.append(queue)
    return _facts(queues, source, interfaces)


def _outermost(queues: list[Queue]) -> list[Queue]:
    """Return the queues; of the shapers of one law at an interface the widest, which bounds them.

    A class of HTB stands below another that sends at least as fast.
    """
    widest: dict[tuple[str, str], float] = {}
    for queue in queues:
        if queue.rate is not None:
            key = (queue.interface, queue.law)
            widest[key] = max(queue.rate, widest.get(key, 0.0))
    return [
        queue
        for queue in queues
        if queue.rate is None or queue.rate == widest[queue.interface, queue.law]
    ]


def _facts(queues: list[Queue], source: str, interfaces: Interfaces) -> list[Fact]:
    facts = []
    names = {queue.interface for queue in queues}
    for queue in _outermost(queues):
        if queue.law in ("ingress", "clsact", "noqueue"):
            continue
        way = interfaces.direction(queue.interface, names)
        where = f"{source}, {queue.law} at {queue.interface or 'an interface without a name'}"
        shapes = 1.0 if queue.rate is not None and queue.law in SHAPERS else 0.0
        facts.append(Fact(What.LAW, way, shapes, shapes, shapes, where, 1, note=queue.law))
        if shapes and queue.rate:
            rate = queue.rate
            facts.append(Fact(What.SHAPED, way, rate, rate, rate, where, 1, note=queue.law))
        if queue.sent + queue.dropped > 0:
            total = queue.sent + queue.dropped
            facts.append(share_of(What.DROPPED, way, queue.dropped, total, where))
        if queue.backlog:
            value = queue.backlog
            facts.append(Fact(What.BACKLOG, way, value, value, value, where, 1))
        if queue.waits_s and max(queue.waits_s) > 0:
            value = max(queue.waits_s)
            facts.append(Fact(What.QUEUE, way, value, value, value, where, 1))
    return facts
