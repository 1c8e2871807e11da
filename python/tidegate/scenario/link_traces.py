"""Traces of links like those that were measured, drawn from a seed.

Both kinds are Markov-modulated: a rate that forgets its past little by little
(a first-order autoregression), with mean, deviation and correlation of
published measurements. None of these numbers was fitted to a result of a
simulation.

`lte`: the capacity for one user who drives through a city. The numbers are
those of the trace `ATT-LTE-driving.down` that comes with mahimahi (recorded
for Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High
Throughput and Low Delay over Cellular Networks", NSDI 2013): 786 s, a mean of
5.19 Mbit/s, a standard deviation of single seconds of 2.89 Mbit/s, and a
correlation of 0.923 between neighbouring seconds. As in that paper packets
are delivered at the points of a Poisson process whose rate is modulated, and
the rate changes every 20 ms. Where the drawn rate is below zero nothing is
delivered: 4 % of the time, where the recorded trace pauses for 100 ms or
longer in 7 %.

`starlink`: a dish that stands still. Satellites change every 15 s (Mohan and
others, "A Multifaceted Look at Starlink Performance", WWW 2024). The numbers
are those of the data of Laniewski and others, "Starlink on the Road", TMA
2024 (UDP, 11,817 seconds of download and 11,112 of upload, not moving). Rates
jump there by two to four times as much as otherwise at 12, 27, 42 and 57 s of
a minute, and here they change at these times. Their means are 280.1 and 18.9
Mbit/s; the standard deviations 83.2 and 8.6 Mbit/s between the intervals of
15 s, and 42.4 and 2.6 Mbit/s within one, where neighbouring seconds have a
correlation of 0.40 and 0.25. The mean round trip of 25 s has a mean of 58.3 ms
and a standard deviation of 8.8 ms. Here each satellite has a round trip that
is drawn evenly with that mean and deviation, from 43.1 to 73.5 ms (the
smallest of a measurement was 43.9 ms in the median); the delay of one direction
is half of it.

What neither has: losses, and pauses at a change of satellites. That
satellites follow each other independently is an assumption: the measurements
were shorter than two of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPPORTUNITY_BITS = 1504 * 8
"""What a line of a trace of opportunities delivers."""
TICKS_PER_S = 50
"""Changes of the rate of a cellular link in a second."""
SATELLITE_S = 15
"""Time between two changes of satellites."""
FIRST_CHANGE_S = 12
"""The first of them in a minute."""
LONGEST_S = 86_400


@dataclass(frozen=True)
class Cellular:
    """The capacity of a cellular link: bit/s, and the correlation of seconds one apart."""

    mean: float = 5.19e6
    deviation: float = 2.89e6
    correlation: float = 0.923


@dataclass(frozen=True)
class Satellites:
    """A link over satellites: bit/s, the correlation of seconds one apart, and seconds."""

    mean: float
    between: float
    """Standard deviation between satellites."""
    within: float
    """Standard deviation while there is one of them."""
    correlation: float
    round_trip: float = 58.3e-3
    round_trip_deviation: float = 8.8e-3


LTE = Cellular()
STARLINK = Satellites(280.1e6, 83.2e6, 42.4e6, 0.40)
STARLINK_UP = Satellites(18.9e6, 8.6e6, 2.6e6, 0.25)


def lte(seed: int, seconds: int) -> str:
    """Return a trace of opportunities, one time in whole milliseconds on each line."""
    return "".join(f"{at}\n" for at in _opportunities(Random(f"{seed}/lte"), seconds, LTE))


def starlink(seed: int, seconds: int) -> str:
    """Return a table of the rate and the delay towards the user."""
    return _satellites(seed, seconds, "down", STARLINK)


def starlink_up(seed: int, seconds: int) -> str:
    """Return the same away from the user, over the same satellites where the seed is the same."""
    return _satellites(seed, seconds, "up", STARLINK_UP)


KINDS: dict[str, Callable[[int, int], str]] = {
    "lte": lte,
    "starlink": starlink,
    "starlink-up": starlink_up,
}
"""What can be drawn, by name."""

SHIPPED = {
    "lte": ("lte.trace", 1, 60),
    "starlink": ("starlink.csv", 1, 300),
    "starlink-up": ("starlink-up.csv", 1, 300),
}
"""The traces that scenarios can name as `tidegate:KIND`: file, seed and seconds."""


def _normal(random: Random) -> float:
    """Draw a number of mean zero and deviation one (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - random.random()))
    return radius * math.cos(2.0 * math.pi * random.random())


def _levels(random: Random, correlation: float) -> Iterator[float]:
    """Yield a course of mean zero and deviation one; `correlation`: of neighbours."""
    level, fresh = _normal(random), math.sqrt(1.0 - correlation * correlation)
    while True:
        yield level
        level = correlation * level + fresh * _normal(random)


def _opportunities(random: Random, seconds: int, link: Cellular) -> Iterator[int]:
    """Yield the points of a Poisson process, in milliseconds; its rate is a course."""
    levels = _levels(random, link.correlation ** (1.0 / TICKS_PER_S))
    due = -math.log(1.0 - random.random())
    for tick in range(seconds * TICKS_PER_S):
        rate = max(0.0, link.mean + link.deviation * next(levels)) / OPPORTUNITY_BITS
        left = rate / TICKS_PER_S
        while due <= left:
            left -= due
            due = -math.log(1.0 - random.random())
            yield math.ceil(((tick + 1) / TICKS_PER_S - left / rate) * 1e3)
        due -= left


def _satellites(seed: int, seconds: int, direction: str, link: Satellites) -> str:
    trips, rates = Random(f"{seed}/satellites"), Random(f"{seed}/{direction}")
    half = math.sqrt(3.0) * link.round_trip_deviation
    levels = _levels(rates, link.correlation)
    lines = ["time_s,rate_bit_s,delay_s\n"]
    rate = delay = 0.0
    for second in range(seconds + 1):
        if second == 0 or second % SATELLITE_S == FIRST_CHANGE_S % SATELLITE_S:
            trip = link.round_trip + half * (2.0 * trips.random() - 1.0)
            delay, rate = trip / 2.0, link.mean + link.between * _normal(rates)
        present = max(0.0, rate + link.within * next(levels))
        lines.append(f"{second},{present:.4g},{delay:.5f}\n")
    return "".join(lines)
