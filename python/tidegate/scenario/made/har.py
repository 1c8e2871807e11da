"""A HAR file, as the developer tools of browsers save it (HAR 1.2): a class for each of its pages.

A class keeps when its page was begun, the size of its document, how many objects it had and of
what sizes, over how many connections, and how long servers took. It keeps no order among the
objects: all but the document are asked for at once.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tidegate.scenario.toml import inline, quoted
from tidegate.scenario.tree import Damaged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from urllib.parse import SplitResult

    from tidegate.scenario.tree import Tree

TO_ONE_HOST = 6
"""Connections that browsers open to one host over HTTP/1.1."""
MOST_CONNECTIONS = 256
MOST_REQUEST = 1400
"""Bytes of a request: it has to fit into one packet."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
USUAL_RTT_S = 0.02
"""Where no connection of the file was opened anew, so that it shows no round trip."""


@dataclass(frozen=True)
class Answer:
    """What a server sent for one request."""

    start_s: float
    end_s: float
    host: str
    version: str
    size: int
    request: int
    wait_s: float
    connection: str | None
    handshake_s: float | None
    redirects: bool


@dataclass
class Page:
    """The answers of a page, by the start of their requests; the first is the document."""

    answers: list[Answer] = field(default_factory=list)
    led: list[Answer] = field(default_factory=list)
    """Redirections that led to the document."""

    @property
    def objects(self) -> int:
        """Answers besides the document."""
        return len(self.answers) - 1

    @property
    def connections(self) -> int:
        """Connections that the page used, or as many as browsers open."""
        named = {each.connection for each in self.answers}
        if None not in named:
            return len(named)
        hosts: dict[str, list[Answer]] = {}
        for each in self.answers:
            hosts.setdefault(each.host, []).append(each)
        return sum(
            min(TO_ONE_HOST, len(some)) if some[0].version.startswith("http/1") else 1
            for some in hosts.values()
        )


def scenario(tree: Tree, name: str) -> tuple[dict[str, str], list[str]]:
    """Return the scenario and its tables as texts by name, and what it leaves out."""
    pages, left = _pages(tree.at("log"))
    answers = [each for page in pages for each in page.led + page.answers]
    trips = [each.handshake_s for each in answers if each.handshake_s]
    rtt_s = min(trips, default=USUAL_RTT_S)
    tables = {
        f"{name}-{number}.csv": _steps([each.size for each in page.answers[1:]])
        for number, page in enumerate(pages, 1)
        if page.objects
    }
    said = [
        f"{count} {'answer is' if count == 1 else 'answers are'} left out: {why}"
        for why, count in sorted(left.items())
    ]
    if any(page.objects > 1 for page in pages):
        said.append("the objects of a page are all asked for once its document is there")
    if not trips:
        said.append("no round trip can be seen in the file: 20 ms is written")
    return {f"{name}.toml": _text(name, pages, rtt_s, seen=bool(trips))} | tables, said


def _pages(log: Tree) -> tuple[list[Page], Counter[str]]:
    names = [page.at("id").text() for page in log.at("pages").listed()] if log.has("pages") else []
    pages: dict[str, Page] = {name: Page() for name in names}
    left: Counter[str] = Counter()
    for entry in log.at("entries").listed():
        found = _answer(entry)
        if isinstance(found, str):
            left[found] += 1
            continue
        # an entry of no page is of the page before it
        where = entry.at("pageref").text() if entry.has("pageref") else next(reversed(pages), "")
        pages.setdefault(where, Page()).answers.append(found)
    loaded = [page for page in pages.values() if page.answers]
    if not loaded:
        raise Damaged("`log.entries` has no answer of a server")
    for page in loaded:
        page.answers.sort(key=lambda each: each.start_s)
        # they lead to the document: it comes after them
        while page.objects and page.answers[0].redirects:
            page.led.append(page.answers.pop(0))
            left["a redirection to the document, whose time is not kept"] += 1
    return sorted(loaded, key=lambda page: page.answers[0].start_s), left


def _answer(entry: Tree) -> Answer | str:
    """Read one entry; or say why it is no answer that crossed the network."""
    request, response = entry.at("request"), entry.at("response")
    url = _url(request.at("url"))
    if url.scheme not in ("http", "https"):
        return f"of {url.scheme} addresses" if url.scheme else "without an address"
    if response.at("status").number() == 0:
        return "without an answer"
    size = _size(response)
    if size is None or size <= 0:
        return "from the cache, or without a size"
    timings = entry.at("timings")
    start_s = _instant(entry.at("startedDateTime"))
    connect_s = _time(timings, "connect")
    # `connect` includes `ssl`
    handshake_s = connect_s - _time(timings, "ssl")
    version = response.at("httpVersion").text() if response.has("httpVersion") else ""
    return Answer(
        start_s=start_s,
        end_s=start_s + entry.at("time").number() / 1000,
        host=url.netloc,
        version=version.lower(),
        size=size,
        request=int(sum(max(0.0, _known(request, key)) for key in ("headersSize", "bodySize"))),
        wait_s=_time(timings, "wait"),
        connection=_connection(entry),
        handshake_s=handshake_s if handshake_s > 0 else None,
        redirects=response.at("status").number() in REDIRECTS,
    )


def _url(tree: Tree) -> SplitResult:
    try:
        return urlsplit(tree.text())
    except ValueError as error:
        raise Damaged(f"`{tree.place}` is no address: {error}") from error


def _connection(entry: Tree) -> str | None:
    # "0" stands for no connection in Chromium
    if not entry.has("connection"):
        return None
    name = str(entry.at("connection").value)
    return None if name in ("", "0") else name


def _size(response: Tree) -> int | None:
    """Bytes on the link: Chromium's own key, else headers and body, else the body unpacked."""
    if response.has("_transferSize"):
        return int(_known(response, "_transferSize"))
    head, body = _known(response, "headersSize"), _known(response, "bodySize")
    if body >= 0:
        return int(body + max(0.0, head))
    return int(_known(response.at("content"), "size")) if response.has("content") else None


def _known(tree: Tree, key: str) -> float:
    """Return a size, which is -1 where it is not known."""
    return tree.at(key).number(-1.0) if tree.has(key) else -1.0


def _time(timings: Tree, key: str) -> float:
    """Return a part of the time of an answer in seconds; what did not happen is -1."""
    return max(0.0, _known(timings, key)) / 1000


def _instant(tree: Tree) -> float:
    try:
        return datetime.fromisoformat(tree.text()).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise Damaged(f"`{tree.place}` is no time, as 2026-01-31T12:00:00.000Z") from error


def _steps(sizes: Sequence[int]) -> str:
    """Return the distribution of these sizes as a table: each has its share, nothing between."""
    lines, below = ["size_bytes,probability"], 0
    for size, count in sorted(Counter(sizes).items()):
        if below:
            lines.append(f"{size},{below / len(sizes):.9g}")
        below += count
        lines.append(f"{size},{below / len(sizes):.9g}")
    return "\n".join(lines) + "\n"


def _text(name: str, pages: Sequence[Page], rtt_s: float, *, seen: bool) -> str:
    answers = [each for page in pages for each in page.answers]
    hosts = {each.host for each in answers}
    total = sum(each.size for each in answers)
    begin_s = pages[0].answers[0].start_s
    length_s = math.ceil(max(each.end_s for each in answers) - begin_s)
    trip = f"{rtt_s * 1000:.4g} ms, the shortest handshake" if seen else "not in the file"
    classes = [
        _class(name, number, page, rtt_s, page.answers[0].start_s - begin_s)
        for number, page in enumerate(pages, 1)
    ]
    return f"""\
# Pages of {quoted(name)[1:-1]}.har: {len(pages)}, with {len(answers)} answers of \
{len(hosts)} hosts, {total / 1e6:.3g} MB.
# The file says nothing of the link: write yours. Round trip: {trip}.
name     = {quoted(name)}
duration = "{2 * length_s + 30}s"

[topology.dumbbell]
pairs      = 1
access     = {{ rate = "1Gbit", delay = "100us" }}
bottleneck = {{ rate = "20Mbit", delay = "{max(0.0, rtt_s / 2 - 2e-4) * 1e6:.0f}us" }}

{chr(10).join(classes)}"""


def _class(name: str, number: int, page: Page, rtt_s: float, at_s: float) -> str:
    quic = sum(each.size for each in page.answers if each.version in ("h3", "http/3"))
    over_quic = quic > sum(each.size for each in page.answers) / 2
    size = f'"{page.answers[0].size}B"'
    pages: dict[str, object] = {}
    if page.objects:
        size = inline({"empirical": {"file": f"{name}-{number}.csv"}})
        pages["document"] = f"{page.answers[0].size}B"
        pages["objects"] = page.objects
    pages["connections"] = 1 if over_quic else min(MOST_CONNECTIONS, page.connections)
    server_s = max(0.0, median(each.wait_s for each in page.answers) - rtt_s)
    pages["server"] = f"{server_s * 1000:.0f}ms"
    requests = [each.request for each in page.answers if each.request]
    if requests:
        pages["request"] = f"{min(MOST_REQUEST, round(median(requests)))}B"
    return f"""\
[traffic.page{number}]
direction = "download"
arrivals  = {{ at = ["{at_s * 1000:.0f}ms"] }}
size      = {size}
pages     = {inline(pages)}
transport = {"{ quic = {} }" if over_quic else '{ tcp = { profile = "linux" } }'}
"""
