"""What is measured in a saved run of this paper, beyond its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.session.cases import OPTIMUM, RATES
from tidegate.results.measures import of_class, of_values, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.run_files import SavedRun

FCT, FLOWS, RATE = "fct_mean_s", "completed", "completed_per_s"
SHORT_S = 5.0
"""Up to this a session counts as short in Figure 4: a few round trips and one SYN retry less."""
RETRY_S = 6.0
served = of_class("web", "completed")


def short_share(record: SavedRun) -> float:
    """Return the share of the sessions that close which took under `SHORT_S` in all."""
    flows = record.flows()
    return float(np.mean((flows["closed_s"] - flows["start_s"]) < SHORT_S))


@of_values
def gap(record: SavedRun, start: float, end: float) -> float:
    """Return how far admissions are from completions, as a share of these.

    Second by second, each smoothed over five seconds: single epochs differ by
    the time that a session takes.
    """
    rates = record.rates()
    there = within(rates["time_s"], start, end)
    smooth = np.ones(5) / 5
    into, out = (
        np.convolve(rates[name][there], smooth, "valid") for name in ("admitted", "completed")
    )
    return float(np.mean(np.abs(into - out)) / np.mean(out))


@of_values
def changes(record: SavedRun, start: float, end: float, phases: tuple[str, ...] = ()) -> float:
    """Return mean change of the allowance from epoch to epoch, sessions."""
    events = record.events()
    there = within(events["time_s"], start, end)
    if phases:
        there &= np.isin(np.array(events["phase"]), phases)
    known = np.where(np.isfinite(events["set"]), events["set"], np.nan)
    steps = np.abs(np.diff(known, prepend=np.nan))[there]
    return float(np.nanmean(steps)) if np.any(np.isfinite(steps)) else float("nan")


SPIKE = 1.05
"""An epoch with this ratio to the usual admissions is a spike: half of INCREASE_FACTOR's 10 %."""
AROUND = 5
"""Epochs on either side of which the usual admissions are the median."""


def spiked(admitted: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which epochs have more admissions than those around them."""
    padded = np.pad(admitted, AROUND, mode="edge")
    spans = np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1)
    return np.asarray(admitted > SPIKE * np.median(spans, axis=1))


def spikes(record: SavedRun) -> float:
    """Return the share of ten-second spans from 50 to 250 s with a spike of the admissions."""
    events = record.events()
    up = events["time_s"][spiked(events["admitted"].astype(np.float64))]
    counts, _ = np.histogram(up, np.arange(50.0, 251.0, 10.0))
    return float(np.mean(counts > 0))


@of_values
def settled(record: SavedRun, after: float) -> float:
    """Return seconds after a change until the allowance stays near where it ends.

    Near is within a quarter of its mean over the last 50 s, each smoothed over
    five epochs.
    """
    events = record.events()
    known = np.isfinite(events["set"]) & (events["time_s"] > after)
    times, values = events["time_s"][known], events["set"][known]
    smooth = np.convolve(np.pad(values, 2, mode="edge"), np.ones(5) / 5, "valid")
    end = float(np.mean(values[times > times[-1] - 50.0]))
    off = np.flatnonzero(np.abs(smooth - end) > 0.25 * end)
    return float(times[off[-1]] - after) if off.size else 0.0


def searched_for(record: SavedRun) -> float:
    """Return when the search hands over to the ascent, seconds; NaN if it never does."""
    events = record.events()
    climbing = np.array(events["phase"]) == "ascent"
    return float(events["time_s"][np.argmax(climbing)]) if np.any(climbing) else float("nan")


def once_small(runs: Runs, alone: str, both: str) -> tuple[Floats, Floats]:
    """Return the mean change of the allowance in the ten epochs from where the bracket is small.

    By seed, under golden sections alone and with the ascent: until then both
    searches are the same.
    """
    found = []
    for golden, record in zip(runs.records(alone), runs.records(both), strict=True):
        start = searched_for(record)
        span = changes(start, start + 20.0)
        found.append((span(golden), span(record)))
    columns = np.array(found).T
    return columns[0], columns[1]


def handed_over(record: SavedRun) -> float:
    """Return the allowance at which the search hands over to the ascent, sessions/s."""
    events = record.events()
    climbing = np.array(events["phase"]) == "ascent"
    epoch_s = events["time_s"][1] - events["time_s"][0]
    return float(events["set"][np.argmax(climbing)] / epoch_s) if np.any(climbing) else np.nan


def _late(record: SavedRun, column: str) -> float:
    rates, end = record.rates(), record.summary["duration_s"]
    return float(np.mean(rates[column][within(rates["time_s"], 0.6 * end, end)]))


def late_admissions(record: SavedRun) -> float:
    """Return the admissions a second over the last two fifths of a run."""
    return _late(record, "admitted")


def late_completions(record: SavedRun) -> float:
    """Return the completions a second over the same time."""
    return _late(record, "completed")


@of_values
def swing(record: SavedRun, start: float, end: float) -> float:
    """Return standard deviation of the allowance over its mean."""
    events = record.events()
    values = events["set"][within(events["time_s"], start, end)]
    values = values[np.isfinite(values)]
    return float(np.std(values) / np.mean(values))


def least_admitted(record: SavedRun) -> float:
    """Return the fewest admissions of an epoch, from the second one on."""
    return float(np.min(record.events()["admitted"][1:]))


def epochs_to_ascent(record: SavedRun) -> float:
    """Return how many epochs the search takes until it climbs; NaN if it never does."""
    climbing = np.array(record.events()["phase"]) == "ascent"
    return float(np.argmax(climbing) + 1) if np.any(climbing) else float("nan")


def on_schedule(record: SavedRun) -> float:
    """Return the share of the waits for admission that are 0, 6, 18, 42, 90 or 186 s."""
    flows = record.flows()
    waits = flows["admitted_s"] - flows["start_s"]
    retries = RETRY_S * (2.0 ** np.arange(6) - 1.0)
    nearest = np.min(np.abs(waits[:, None] - retries[None, :]), axis=1)
    return float(np.mean(nearest < 0.3))


@of_values
def unseen_ends(record: SavedRun, start: float, end: float) -> float:
    """Return the share of the ends of sessions that the gate does not count."""
    events, rates = record.events(), record.rates()
    counted = np.sum(events["departed"][within(events["time_s"], start, end)])
    ended = np.sum(rates["completed"][within(rates["time_s"], start, end)])
    return float(1.0 - counted / ended)


def large_share(record: SavedRun) -> float:
    """Return the share of completed sessions above 10 kB, in percent."""
    return 100.0 * (1.0 - float(record.all["share_le_10kB"]))


def jain(record: SavedRun) -> float:
    """Return Jain's index of what sessions got."""
    return float(record.summary["jain"])


def curve(runs: Runs) -> dict[float, Floats]:
    """Return the completions per second at every admit rate with all seeds."""
    found = {float(rate): runs.values(f"admit/{rate}", RATE) for rate in RATES}
    return found | {rate: runs.values(case, RATE) for rate, case in runs.fine(OPTIMUM).items()}
