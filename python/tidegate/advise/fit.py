"""From facts to a link: rates, round trip, buffers and losses, and what cannot be told.

- *Rate.* A link carries what it can only while it is full. It was full where the round trip rose
  while it carried; then its rate is what it carried. Otherwise that is a least value alone, and
  there is no estimate.
- *Round trip.* The least that was measured, as queues only add.
- *Buffer.* What the round trip under load has more, 95 % of the time: so long waits the last
  packet of a full queue that is first in, first out. Where both directions were loaded at once,
  the sum of both is known: each gets half, and its interval goes from 0 to the sum.
- *Loss.* That of probes while the round trip did not rise; else it may be the queue's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidegate.advise.facts import BOTH, DOWN, UP, Fact, What
from tidegate.advise.readers.phases import risen
from tidegate.results.digits import significant
from tidegate.show.experience import CALL_DELAY_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CLEAR = 0.25
"""An estimate whose interval is wider than this on a side decides nothing."""
ASSUMED_QUEUE_S = 0.2
"""The buffer that is assumed where none is known: the delay that buffers of a quarter of a second
and more, common in modems (Kreibich and others, Netalyzr, 2010), add under load on average."""
SHAPE = 0.95
"""A shaper sends 5 % less than the link."""
SHORT_S = 0.02
"""A queue that is full for so short may be kept short by a law, such as CoDel, whose target of 5 ms
several connections together exceed."""
MANAGED = "whether a queue law keeps the queue short already,"
"""How it begins what is said then."""
LEAST_BUFFER = 3_000
"""Bytes that any buffer holds: a packet that waits, and one that is on its way."""
GIVEN, MEASURED, ASSUMED, SET = "given", "measured", "assumed", "set"


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, and where it comes from."""

    value: float
    low: float
    high: float
    origin: str
    why: str = ""

    def document(self) -> dict[str, object]:
        """Return it for machines."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "origin": self.origin,
            "why": self.why,
        }


@dataclass(frozen=True)
class Way:
    """One direction of a link."""

    rate: Estimate | None = None
    queue_s: Estimate | None = None
    """How long a packet waits behind a full buffer."""
    loss: Estimate | None = None
    law: str = ""
    """The queue law that shapes this direction now, as `tc` shows it."""

    @property
    def shaped_bps(self) -> float | None:
        """The rate for a shaper: a little less than the link's, so that the queue is at the router.

        A rate that is that of a shaper already stays as it is.
        """
        if self.rate is None:
            return None
        return self.rate.value * (1.0 if self.rate.origin == SET else SHAPE)


@dataclass(frozen=True)
class Link:
    """The link that fits what is known."""

    down: Way = field(default_factory=Way)
    up: Way = field(default_factory=Way)
    rtt_s: Estimate | None = None
    unknown: tuple[str, ...] = ()
    """What cannot be told, and what to measure or to give."""

    @property
    def complete(self) -> bool:
        """Whether it can be simulated: both rates and the round trip are known."""
        return None not in (self.down.rate, self.up.rate, self.rtt_s)

    @property
    def trip_s(self) -> float:
        """The round trip without load; 0 where it is not known."""
        return self.rtt_s.value if self.rtt_s else 0.0

    def way(self, direction: str) -> Way:
        """Return one direction."""
        return self.down if direction == DOWN else self.up

    def loaded_s(self, direction: str) -> float | None:
        """Return the round trip while this direction is full, and nothing controls its queue."""
        queue = self.way(direction).queue_s
        return None if self.rtt_s is None or queue is None else self.rtt_s.value + queue.value

    def document(self) -> dict[str, object]:
        """Return it for machines."""
        found: dict[str, object] = {
            "rtt_s": self.rtt_s.document() if self.rtt_s else None,
            "unknown": list(self.unknown),
        }
        for name in (DOWN, UP):
            way = self.way(name)
            found[name] = {
                "rate_bps": way.rate.document() if way.rate else None,
                "queue_s": way.queue_s.document() if way.queue_s else None,
                "loss": way.loss.document() if way.loss else None,
                "law": way.law or None,
            }
        return found


@dataclass(frozen=True)
class Given:
    """What the user says of the link; it counts more than any file."""

    down_bps: float | None = None
    up_bps: float | None = None
    rtt_s: float | None = None
    queue_s: float | None = None
    loss: float | None = None


def fit(facts: Sequence[Fact], given: Given) -> Link:
    """Return the link that fits."""
    unknown: list[str] = []
    rtt = _rtt(facts, given, unknown)
    ways = {
        name: Way(
            _rate(name, facts, rate, unknown),
            _queue(name, facts, given, rtt),
            _loss(name, facts, given),
            _law(name, facts),
        )
        for name, rate in ((DOWN, given.down_bps), (UP, given.up_bps))
    }
    if lacking := [name for name, way in ways.items() if way.queue_s is None]:
        unknown.append(_no_buffer(lacking, facts))
    ways = {name: _assumed(way) for name, way in ways.items()}
    short = [name for name, way in ways.items() if _short(way)]
    if short:
        waits = max(ways[name].queue_s.value for name in short if ways[name].queue_s)  # type: ignore[union-attr]
        unknown.append(
            f"{MANAGED} {' and '.join(short)}: at most {significant(1e3 * waits)} ms wait while it"
            " is full. A short buffer is simulated. If a queue law is there, nothing has to be done"
        )
    unknown += [_there(fact) for fact in _about(What.LAW, facts, DOWN, UP) if fact.value]
    unknown += [said for name, way in ways.items() if (said := _least_buffer(name, way))]
    if rtt is not None and rtt.value / 2 > CALL_DELAY_S:
        unknown.append(
            f"calls and meetings within {1e3 * CALL_DELAY_S:g} ms one way: half of the round trip"
            f" is {significant(500 * rtt.value)} ms, and no control shortens it"
        )
    if _both(facts) and given.queue_s is None and not _alone(facts):
        unknown.append(
            "in which direction packets wait, and whether each carried what it can: both were"
            " loaded at once. Test one after the other (networkQuality -s, Flent tcp_download and"
            " tcp_upload)"
        )
    return Link(ways[DOWN], ways[UP], rtt, tuple(dict.fromkeys(unknown)))


def _short(way: Way) -> bool:
    return (
        way.queue_s is not None
        and way.queue_s.origin == MEASURED
        and (0.0 < way.queue_s.value < SHORT_S)
    )


def _exact(value: float) -> Estimate:
    return Estimate(value, value, value, GIVEN)


def _of(fact: Fact, why: str = "", origin: str = MEASURED) -> Estimate:
    said = f"{why}, {fact.source}" if why else fact.source
    return Estimate(fact.value, fact.low, fact.high, origin, said)


def _about(what: What, facts: Iterable[Fact], *directions: str) -> list[Fact]:
    return [
        fact
        for fact in facts
        if fact.what is what and (not directions or fact.direction in directions)
    ]


def _rtt(facts: Sequence[Fact], given: Given, unknown: list[str]) -> Estimate | None:
    if given.rtt_s is not None:
        return _exact(given.rtt_s)
    idle = _about(What.IDLE, facts)
    if idle:
        fact = min(idle, key=lambda each: each.value)
        return _of(fact, f"the least of {fact.samples}")
    unknown.append(
        "the round trip without load. Give --rtt, or the output of `ping -c 50 1.1.1.1` at a quiet"
        " hour"
    )
    return None


def _rate(
    name: str, facts: Sequence[Fact], given: float | None, unknown: list[str]
) -> Estimate | None:
    if given is not None:
        return _exact(given)
    carried = _about(What.RATE, facts, name)
    clear = [fact for fact in carried if fact.full and _clear(fact)]
    if clear:
        # each was full: the one that carried most shows what it can
        return _of(max(clear, key=lambda fact: fact.value), "while it was full")
    shaped = _about(What.SHAPED, facts, name)
    if shaped and max(shaped, key=_value).value > 1.01 * min(shaped, key=_value).value:
        unknown.append(_disagree(name, shaped))
        return None
    if shaped:
        fact = shaped[0]
        unknown.append(
            f"whether the link can carry more {name} than the"
            f" {significant(fact.value / 1e6, 4)} Mbit/s to which {fact.note} shapes it."
            f" Give --{name} if you know"
        )
        return _of(fact, "what the shaper lets through", SET)
    unknown.append(_no_rate(name, carried) + _elsewhere(facts))
    return None


def _value(fact: Fact) -> float:
    return fact.value


def _rates(shaped: Sequence[Fact]) -> str:
    return "; ".join(
        f"{significant(fact.value / 1e6, 4)} Mbit/s, {fact.source}"
        for fact in sorted(shaped, key=_value)
    )


def _disagree(name: str, shaped: Sequence[Fact]) -> str:
    """Return that several shapers set different rates, and the remedy."""
    return (
        f"the rate {name}: its shapers differ ({_rates(shaped)}). Give --{name}, or the output of"
        " `tc` for the router's two interfaces alone"
    )


def _elsewhere(facts: Sequence[Fact]) -> str:
    """Return which shapers stand at interfaces of no known direction."""
    shaped = _about(What.SHAPED, facts, "")
    if not shaped:
        return ""
    return f". There is a shaper ({_rates(shaped)}): name its interface by --outside or --inside"


def _there(fact: Fact) -> str:
    """Return what to do about a shaper that is there already."""
    return (
        f"how else the shaper that is there is set ({fact.source}). Write down what `tc qdisc show`"
        " says of it before you replace it. Where it is at another interface than the lines here"
        " name, remove it, or packets are shaped twice"
    )


def _least_buffer(name: str, way: Way) -> str:
    """Return that a buffer is simulated larger than it is said to be; "": it is not."""
    if way.rate is None or way.queue_s is None or way.queue_s.origin == ASSUMED:
        return ""
    least_s = 8 * LEAST_BUFFER / way.rate.value
    if way.queue_s.value >= least_s:
        return ""
    return (
        f"a buffer {name} of {significant(1e3 * way.queue_s.value)} ms: the least that is simulated"
        f" is two packets, {significant(1e3 * least_s)} ms at this rate"
    )


def _no_rate(name: str, carried: Sequence[Fact]) -> str:
    """Return why there is no rate, and the remedy."""
    give = (
        f"Give --{name} as in your contract, or a test that fills the link"
        " (networkQuality -s -c, Flent tcp_download and tcp_upload, Crusader)"
    )
    if not carried:
        return f"the rate {name}: no file says what the link carried. {give}"
    fact = max(carried, key=lambda each: each.value)
    if fact.full:
        return (
            f"the rate {name}: {fact.source} has {significant(fact.low / 1e6)} to"
            f" {significant(fact.high / 1e6)} Mbit/s, too far apart. Test for longer, or give"
            f" --{name}"
        )
    return (
        f"the rate {name}: nothing shows that the link was full when it carried"
        f" {significant(fact.value / 1e6, 4)} Mbit/s ({fact.source}), so it may carry more. {give}"
    )


def _clear(fact: Fact) -> bool:
    return fact.low >= (1 - CLEAR) * fact.value and fact.high <= (1 + CLEAR) * fact.value


def _queue(name: str, facts: Sequence[Fact], given: Given, rtt: Estimate | None) -> Estimate | None:
    """Return how long the last packet of a full buffer waits."""
    if given.queue_s is not None:
        return _exact(given.queue_s)
    if rtt is None:
        return None
    own = _waiting(rtt, facts, name)
    if own:
        return _above(own[0], rtt)
    both = _waiting(rtt, facts, BOTH)
    if both:
        total = _above(both[0], rtt)
        half = total.value / 2
        return Estimate(half, 0.0, total.high, MEASURED, f"half of both directions, {total.why}")
    return None


def _waiting(rtt: Estimate, facts: Sequence[Fact], direction: str) -> list[Fact]:
    """Return round trips under load that are longer than without, so that a buffer was full."""
    found = [*_about(What.PEAK, facts, direction), *_about(What.LOADED, facts, direction)]
    return [fact for fact in found if risen(rtt.value, fact.value)]


def _above(fact: Fact, rtt: Estimate) -> Estimate:
    """Return what a round trip under load has more than one without."""
    value, low, high = (
        max(0.0, each)
        for each in (fact.value - rtt.value, fact.low - rtt.high, fact.high - rtt.low)
    )
    return Estimate(value, low, high, MEASURED, fact.source)


def _assumed(way: Way) -> Way:
    """Fill in a buffer where none is known."""
    if way.queue_s is not None:
        return way
    value = ASSUMED_QUEUE_S
    return Way(way.rate, Estimate(value, 0.0, 5 * value, ASSUMED), way.loss, way.law)


def _no_buffer(names: Sequence[str], facts: Sequence[Fact]) -> str:
    """Return what is assumed of buffers, and the remedy."""
    least = max((fact.value for fact in _about(What.PEAK, facts, "")), default=0.0)
    some = (
        f" Round trips of up to {significant(1e3 * least)} ms were seen, nobody knows under which"
        " load."
        if least
        else ""
    )
    return (
        f"the buffer {' and '.join(names)}: {1e3 * ASSUMED_QUEUE_S:.0f} ms are assumed.{some} Give"
        " --buffer, or run `ping` during a speed test that fills the link: it is what the round"
        " trip grows by"
    )


def _loss(name: str, facts: Sequence[Fact], given: Given) -> Estimate | None:
    """Return the losses of the link itself; None: none are known."""
    if given.loss is not None:
        return _exact(given.loss)
    waits = {fact.source for fact in facts if fact.what in (What.PEAK, What.LOADED)}
    quiet = [fact for fact in _about(What.LOSS, facts, name, "") if fact.source not in waits]
    quiet = [fact for fact in quiet if fact.value * fact.samples >= 1]
    if not quiet:
        return None
    fact = max(quiet, key=lambda each: each.samples)
    # a probe goes there and back; so half of what is lost is lost in each direction
    share = 1.0 if fact.direction == name else 0.5
    return Estimate(
        *(share * fact.value, share * fact.low, fact.high, MEASURED),
        f"probes without load, {fact.source}",
    )


def _law(name: str, facts: Sequence[Fact]) -> str:
    laws = [fact for fact in _about(What.LAW, facts, name) if fact.value]
    return laws[0].note if laws else ""


def _both(facts: Sequence[Fact]) -> bool:
    return bool(_about(What.LOADED, facts, BOTH))


def _alone(facts: Sequence[Fact]) -> bool:
    return all(_about(What.LOADED, facts, name) for name in (DOWN, UP))


def waits(link: Link) -> bool:
    """Tell whether packets wait at the link when it is full, so that a queue law can help."""
    if link.rtt_s is None:
        return False
    trips = [link.loaded_s(name) for name in (DOWN, UP)]
    return any(trip is not None and risen(link.rtt_s.value, trip) for trip in trips)
