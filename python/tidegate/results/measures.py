"""Measures of a saved run: what papers, studies, certificates and own scripts share.

A measure is the name of a measure of all flows in the summary, or a function of a run
that returns a number, NaN where it is undefined. `measured(SavedRun(folder, seed),
completions(50.0, 250.0))` is the completions a second in a window.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, cast

import numpy as np
import polars as pl

from tidegate.errors import UsageError
from tidegate.results import long_flows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tidegate.results.run_files import SavedRun

    Floats = NDArray[np.float64]

Measure: TypeAlias = "str | Callable[[SavedRun], float]"
P = ParamSpec("P")


def of_values(
    function: Callable[Concatenate[SavedRun, P], float],
) -> Callable[P, Callable[[SavedRun], float]]:
    """Make a measure of a function of a run and further values, for any of these: `f(1.0)(run)`.

    The same values give the same measure, so that what it measured is kept once.
    """

    @cache
    def measure(*values: P.args, **named: P.kwargs) -> Callable[[SavedRun], float]:
        def found(record: SavedRun) -> float:
            return function(record, *values, **named)

        found.__doc__ = function.__doc__
        return found

    return cast("Callable[P, Callable[[SavedRun], float]]", measure)


def measured(record: SavedRun, measure: Measure) -> float:
    """Return a measure of a run."""
    if not isinstance(measure, str):
        return float(measure(record))
    try:
        return known(record.all[measure])
    except KeyError:
        near = get_close_matches(measure, record.all, 3, 0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "docs/metrics.md has the metrics."
        raise UsageError(f"A run has no measure {measure}.", hint) from None


def known(value: float | None) -> float:
    """Return a number of the summary; NaN where it has none."""
    return float("nan") if value is None else float(value)


def within(times: Floats, start: float, end: float, slack: float = 0.0) -> NDArray[np.bool_]:
    """Tell which instants, or intervals by their ends, lie in a window.

    `SLACK` is for samples, whose times are sums.
    """
    return (times > start + slack) & (times <= end + slack)


SLACK = 1e-6


def jain(rates: Floats) -> float:
    """Return Jain's index, and 0 of nothing."""
    return long_flows.jain(rates) or 0.0


# of the summary


@of_values
def of_class(record: SavedRun, name: str, field: str) -> float:
    """Return a measure of the summary for one class of flows, or for `all`."""
    return known(_class(record, name)[field])


@of_values
def of_port(record: SavedRun, name: str, field: str) -> float:
    """Return a measure of the summary for a port."""
    return known(record.port(name)[field])


def summary_of(record: SavedRun, name: str) -> dict[str, Any]:
    """Return the summary of a class of flows, of `all`, or of a port."""
    ports = {each["name"] for each in record.summary["ports"]}
    return record.port(name) if name in ports else _class(record, name)


def _class(record: SavedRun, name: str) -> dict[str, Any]:
    return record.all if name == "all" else record.traffic(name)


@of_values
def lost(record: SavedRun, port: str) -> float:
    """Return how many packets a port lost."""
    return float(sum(record.port(port)["drops"].values()))


@of_values
def data_lost(record: SavedRun, port: str) -> float:
    """Return the share of data packets that a port lost."""
    found = record.port(port)
    arrived = found["data_arrived"]
    return float(found["data_dropped"] / arrived) if arrived else float("nan")


# of each second, or each sample


@of_values
def completions(record: SavedRun, start: float, end: float) -> float:
    """Return completions per second in a window."""
    return _rate(record, "completed", start, end)


@of_values
def admissions(record: SavedRun, start: float, end: float) -> float:
    """Return admissions per second in a window."""
    return _rate(record, "admitted", start, end)


def _rate(record: SavedRun, name: str, start: float, end: float) -> float:
    rates = record.rates()
    return float(np.mean(rates[name][within(rates["time_s"], start, end)]))


@of_values
def fct(record: SavedRun, start: float, end: float) -> float:
    """Return mean FCT from the first SYN of the sessions that close in a window."""
    flows = record.flows()
    there = within(flows["closed_s"], start, end)
    return float(np.mean((flows["closed_s"] - flows["start_s"])[there]))


@of_values
def port_mean(record: SavedRun, port: str, column: str, start: float, end: float) -> float:
    """Return the mean of a column of the samples of a port in a window."""
    samples = record.ports(port)
    return float(np.mean(samples[column][within(samples["time_s"], start, end, SLACK)]))


@of_values
def port_sum(record: SavedRun, port: str, column: str, start: float, end: float) -> float:
    """Return the sum of a column of the samples of a port in a window."""
    samples = record.ports(port)
    return float(np.sum(samples[column][within(samples["time_s"], start, end, SLACK)]))


@of_values
def longest_loss(record: SavedRun, port: str, share: float) -> float:
    """Return the longest time in which every interval loses more than a share of its data, s."""
    samples = record.ports(port)
    much = samples["data_dropped"] > share * samples["data_arrived"]
    return _longest(samples["time_s"], much)


def _longest(ends: Floats, there: NDArray[np.bool_]) -> float:
    """Return the longest time in which something holds in each interval; of the first, nothing."""
    begun, longest = float(ends[0]), 0.0
    for end, holds in zip(ends, there, strict=True):
        if not holds:
            begun = float(end)
        longest = max(longest, float(end) - begun)
    return longest


@of_values
def filled(record: SavedRun, port: str, share: float) -> float:
    """Return when a port had first sent at a share of its capacity for a round trip, s.

    The round trip is the shortest that a sender saw, in whole intervals; the time that of the run
    where it never did.
    """
    samples = record.ports(port)
    time = samples["time_s"]
    bits, possible = _sent(samples)
    rtt = record.all["rtt_min_s"]
    span = 1 if rtt is None else max(1, int(np.ceil(rtt / time[0] - 1e-6)))
    sent, could = (np.convolve(each, np.ones(span), "valid") for each in (bits, possible))
    full = np.flatnonzero(sent >= share * could)
    return float(time[full[0] + span - 1]) if full.size else float(time[-1])


@of_values
def unused(record: SavedRun, port: str) -> float:
    """Return how long a port did not send, in all, s."""
    samples = record.ports(port)
    return float(np.sum((1.0 - samples["utilisation"]) * _lengths(samples["time_s"])))


@of_values
def peak_wait(record: SavedRun, port: str) -> float:
    """Return the longest wait in the queue of a port at the ends of the intervals, s."""
    return float(np.nanmax(_waits(record.ports(port))))


@of_values
def waited(record: SavedRun, port: str, seconds: float) -> float:
    """Return how long the wait in the queue of a port was longer than so many seconds, s.

    By the bytes that wait at the ends of the intervals.
    """
    samples = record.ports(port)
    return float(np.sum(_lengths(samples["time_s"])[_waits(samples) > seconds]))


@of_values
def reached(record: SavedRun, name: str, start: float, rate_bps: float) -> float:
    """Return how long after an instant a class first had a rate for an interval, s.

    The scenario names the class in `series`; the time is that to the end where it never did.
    """
    series = record.series(name)
    there = within(series["time_s"], start, np.inf, SLACK)
    found = np.flatnonzero(there & (series["rate_bps"] >= rate_bps))
    return float(series["time_s"][found[0] if found.size else -1]) - start


EVEN_OVER_S = 5.0
"""Over how long rates are averaged to see whether they are equal."""


@of_values
def even(record: SavedRun, name: str, start: float, index: float) -> float:
    """Return how long after an instant the flows of a class first had rates of a Jain's index, s.

    Over five seconds, all of them after that instant. The scenario names the flows in `series`;
    the time is that to the end where they never had.
    """
    table = record.table("flow_series").filter(pl.col("class") == name)
    wide = table.pivot("number", index="time_s", values="rate_bps").sort("time_s").fill_null(0.0)
    time = wide["time_s"].to_numpy()
    rates = wide.drop("time_s").to_numpy()
    span = max(1, round(EVEN_OVER_S / time[0]))
    for place in range(span, time.size + 1):
        fair = jain(rates[place - span : place].mean(axis=0)) >= index
        if fair and time[place - 1] >= start + EVEN_OVER_S - SLACK:
            return float(time[place - 1]) - start
    return float(time[-1]) - start


def _sent(samples: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Return the bits that a port sent in each interval, and those that it could have sent."""
    possible = samples["capacity_bps"] * _lengths(samples["time_s"])
    return samples["utilisation"] * possible, possible


def _waits(samples: Mapping[str, Floats]) -> Floats:
    """Return the wait in the queue of a port at the ends of the intervals; NaN in an outage."""
    capacity = samples["capacity_bps"].astype(float)
    return samples["queue_bytes"] * 8.0 / np.where(capacity > 0.0, capacity, np.nan)


def _lengths(ends: Floats) -> Floats:
    return np.diff(ends, prepend=0.0)


def starved(record: SavedRun) -> float:
    """Return the longest time in whole seconds in which sessions waited and none was admitted."""
    events = record.rates()
    asked = np.cumsum(events["started"]) > np.cumsum(events["admitted"])
    longest = now = 0
    for waiting, admitted in zip(asked, events["admitted"], strict=True):
        now = now + 1 if waiting and admitted == 0 else 0
        longest = max(longest, now)
    return float(longest)


@of_values
def in_time(record: SavedRun, seconds: float) -> float:
    """Return the share of sessions that closed within so many seconds of their first SYN.

    Those count that began after the warm-up, and so long before the end.
    """
    flows, started = record.flows(), record.rates()
    begin, end = record.summary["warmup_s"], record.summary["duration_s"] - seconds
    came = float(np.sum(started["started"][within(started["time_s"], begin, end)]))
    inside = (flows["start_s"] >= begin) & (flows["start_s"] < end)
    took = (flows["closed_s"] - flows["start_s"])[inside]
    return float(np.sum(took <= seconds)) / came if came else float("nan")


@of_values
def longest_silence(record: SavedRun, name: str) -> float:
    """Return the longest time in which flows of a class were open and got nothing new, s.

    The scenario names the class in `series`; the time is a multiple of its `every`.
    """
    series = record.series(name)
    return _longest(series["time_s"], (series["open_flows"] > 0) & (series["rate_bps"] == 0))
