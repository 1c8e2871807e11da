"""What is measured in a saved run of this paper, beyond its summary."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.papers.session.cases import OPTIMUM, RATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.record import Record

    Measured = Callable[[Record], float]

FCT, FLOWS, RATE = "fct_mean_s", "completed", "completed_per_s"
SHORT_S = 5.0
"""Up to this a session counts as short in Figure 4: a few round trips and one SYN retry less."""
RETRY_S = 6.0


def _within(times: NDArray[Any], start: float, end: float) -> NDArray[np.bool_]:
    return (times > start) & (times <= end)


@cache
def completed(start: float, end: float) -> Measured:
    """Return a measure: completions per second in a window."""

    def measure(record: Record) -> float:
        rates = record.rates()
        return float(np.mean(rates["completed"][_within(rates["time_s"], start, end)]))

    return measure


@cache
def admitted(start: float, end: float) -> Measured:
    """Return a measure: admissions per second in a window."""

    def measure(record: Record) -> float:
        rates = record.rates()
        return float(np.mean(rates["admitted"][_within(rates["time_s"], start, end)]))

    return measure


@cache
def fct(start: float, end: float) -> Measured:
    """Return a measure: mean FCT from the first SYN of the sessions that close in a window."""

    def measure(record: Record) -> float:
        flows = record.flows()
        there = _within(flows["closed_s"], start, end)
        return float(np.mean((flows["closed_s"] - flows["start_s"])[there]))

    return measure


def short_share(record: Record) -> float:
    """Return the share of the sessions that close after 50 s in which all took under `SHORT_S`."""
    flows = record.flows()
    late = flows["closed_s"] > 50.0
    return float(np.mean((flows["closed_s"] - flows["start_s"])[late] < SHORT_S))


@cache
def gap(start: float, end: float) -> Measured:
    """Return a measure: how far admissions are from completions, as a share of these.

    Second by second, each smoothed over five seconds: single epochs differ by
    the time that a session takes.
    """

    def measure(record: Record) -> float:
        rates = record.rates()
        there = _within(rates["time_s"], start, end)
        smooth = np.ones(5) / 5
        into, out = (
            np.convolve(rates[name][there], smooth, "valid") for name in ("admitted", "completed")
        )
        return float(np.mean(np.abs(into - out)) / np.mean(out))

    return measure


@cache
def changes(start: float, end: float, phases: tuple[str, ...] = ()) -> Measured:
    """Return a measure: mean change of the allowance from epoch to epoch, sessions."""

    def measure(record: Record) -> float:
        events = record.events()
        there = _within(events["time_s"], start, end)
        if phases:
            there &= np.isin(np.array(events["phase"]), phases)
        known = np.where(np.isfinite(events["set"]), events["set"], np.nan)
        steps = np.abs(np.diff(known, prepend=np.nan))[there]
        return float(np.nanmean(steps)) if np.any(np.isfinite(steps)) else float("nan")

    return measure


def spikes(record: Record) -> float:
    """Return the share of ten-second spans from 50 s on in which the gate probes."""
    events = record.events()
    probes = events["time_s"][np.array(events["phase"]) == "probe"]
    counts, _ = np.histogram(probes, np.arange(50.0, 301.0, 10.0))
    return float(np.mean(counts > 0))


@cache
def swing(start: float, end: float) -> Measured:
    """Return a measure: standard deviation of the allowance over its mean."""

    def measure(record: Record) -> float:
        events = record.events()
        values = events["set"][_within(events["time_s"], start, end)]
        values = values[np.isfinite(values)]
        return float(np.std(values) / np.mean(values))

    return measure


def least_admitted(record: Record) -> float:
    """Return the fewest admissions of an epoch, from the second one on."""
    return float(np.min(record.events()["admitted"][1:]))


def epochs_to_ascent(record: Record) -> float:
    """Return how many epochs the search takes until it climbs; NaN if it never does."""
    climbing = np.array(record.events()["phase"]) == "ascent"
    return float(np.argmax(climbing) + 1) if np.any(climbing) else float("nan")


def on_schedule(record: Record) -> float:
    """Return the share of the waits for admission that are 0, 6, 18, 42, 90 or 186 s."""
    flows = record.flows()
    waits = flows["admitted_s"] - flows["start_s"]
    retries = RETRY_S * (2.0 ** np.arange(6) - 1.0)
    nearest = np.min(np.abs(waits[:, None] - retries[None, :]), axis=1)
    return float(np.mean(nearest < 0.3))


@cache
def unseen_ends(start: float, end: float) -> Measured:
    """Return a measure: the share of the ends of sessions that the gate does not count."""

    def measure(record: Record) -> float:
        events, rates = record.events(), record.rates()
        counted = np.sum(events["departed"][_within(events["time_s"], start, end)])
        ended = np.sum(rates["completed"][_within(rates["time_s"], start, end)])
        return float(1.0 - counted / ended)

    return measure


def served(record: Record) -> float:
    """Return the sessions of the web that completed in the window."""
    return float(record.traffic("web")["completed"])


def jain(record: Record) -> float:
    """Return Jain's index of what sessions got."""
    return float(record.summary["jain"])


def curve(runs: Runs) -> dict[float, Floats]:
    """Return the completions per second at every admit rate with all seeds."""
    found = {float(rate): runs.values(f"admit/{rate}", RATE) for rate in RATES}
    return found | {rate: runs.values(case, RATE) for rate, case in runs.fine(OPTIMUM).items()}
