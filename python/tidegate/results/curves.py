"""What pictures of one run need: distributions of completion times, and rates over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.results.columns import completed
from tidegate.results.window import Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate.results.statistics import Floats


@dataclass(frozen=True)
class Curves:
    """What pictures of one run need, small enough to keep for every run.

    `offered_share[i]` is the share of all flows offered in the window that had
    closed within `fct_grid_s[i]` of their first SYN: it levels off at the
    share that was served at all. `served_share` is the same of the flows that
    closed in the window, whose mean and percentiles the tables give.
    `offered`, `admitted` and `completed` are events per second in bins that
    end at `times_s`, over the whole run.
    """

    fct_grid_s: Floats
    offered_share: Floats
    served_share: Floats
    times_s: Floats
    offered: Floats
    admitted: Floats
    completed: Floats
    started_pages_share: Floats
    """As `offered_share`, of the pages that were started in the window; empty: no pages."""
    loaded_pages_share: Floats
    """As `served_share`, of the pages that were loaded in the window; empty: no pages."""


def curves(
    flows: Mapping[str, Any],
    pages: Mapping[str, Any],
    warmup_s: float,
    duration_s: float,
    bin_s: float | None = None,
) -> Curves:
    """Reduce the flows and pages of a run to its curves.

    `pages` is empty where there are none. Bins are 1 s, or 2 s in runs over 200 s.
    """
    window = Window(warmup_s, duration_s)
    grid = np.asarray(np.geomspace(1e-2, max(duration_s, 1.0), 1500), dtype=np.float64)
    of_offered = _within(flows["fct_s"][window.has(flows["start_s"])], grid)
    done = completed(flows)
    of_served = _within(flows["fct_s"][window.has(flows["closed_s"]) & done], grid)
    width = bin_s or (1.0 if duration_s <= 200.0 else 2.0)
    bins = int(np.ceil(duration_s / width))
    edges = np.arange(bins + 1, dtype=np.float64) * width

    def rate(times: Floats) -> Floats:
        counts, _ = np.histogram(times[~np.isnan(times)], edges)
        return counts.astype(np.float64) / width

    closed = np.where(done, flows["closed_s"], np.nan)
    rates = [rate(times) for times in (flows["start_s"], flows["admitted_s"], closed)]
    of_pages = [np.zeros(0), np.zeros(0)]
    if pages:
        times = pages["load_time_s"]
        of_pages = [_within(times[window.has(pages[at])], grid) for at in ("start_s", "loaded_s")]
    return Curves(grid, of_offered, of_served, edges[1:], *rates, *of_pages)


def _within(times: Floats, grid: Floats) -> Floats:
    """Return the share of all times, NaN included, that are at most each of the grid's."""
    known = np.sort(times[~np.isnan(times)])
    counts = np.searchsorted(known, grid, side="right").astype(np.float64)
    return counts / max(times.size, 1)
