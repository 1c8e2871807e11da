"""Measures of parts of the traffic: times by size; packets of UDP, viewers and pages by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.results.call_quality import mean_opinion
from tidegate.results.columns import completed
from tidegate.results.responsiveness import trimmed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

SIZES: dict[str, tuple[float, float]] = {
    "to_10kB": (0.0, 1e4),
    "to_100kB": (1e4, 1e5),
    "to_1MB": (1e5, 1e6),
    "above_1MB": (1e6, np.inf),
}
"""Bins of sizes in bytes; a bin includes its upper end."""
OF_SIZE = ("completed", "completed_share", "fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_p99_s")
"""What is measured of the flows of a bin."""
DATAGRAMS = (
    "sent_packets",
    "received_packets",
    "lost_packets",
    "lost_share",
    "delay_min_s",
    "delay_mean_s",
    "delay_p50_s",
    "delay_p95_s",
    "delay_p99_s",
    "delay_max_s",
    "jitter_s",
    "call_mos",
)
"""What is measured of the packets of a class of UDP."""
VIEWERS = (
    "viewers",
    "never_started_share",
    "startup_mean_s",
    "startup_p95_s",
    "stalled_viewers_share",
    "stalls_mean",
    "stalled_share",
    "video_rate_mean_bps",
    "switches_mean",
)
"""What is measured of a class of viewers of video."""
PAGES = (
    "pages",
    "pages_loaded",
    "pages_loaded_share",
    "pages_given_up_share",
    "page_load_mean_s",
    "page_load_p50_s",
    "page_load_p95_s",
    "page_load_p99_s",
    "object_time_mean_s",
    "object_time_p95_s",
    "page_connections_mean",
    "page_answer_s",
    "rpm",
)
"""What is measured of a class of users who load pages."""


def by_size(
    flows: Mapping[str, Any], arrived: NDArray[np.bool_], closed: NDArray[np.bool_]
) -> dict[str, dict[str, float | int | None]]:
    """Return, for each bin of sizes, the completion times of the flows that closed in the window.

    Beside them stands which share of the flows of the bin that arrived in the
    window has been completed by the end. Flows without end have no size, and
    are in no bin.
    """
    sizes = np.asarray(flows["size_bytes"], dtype=float)
    done = completed(flows)
    found: dict[str, dict[str, float | int | None]] = {}
    for name, (low, high) in SIZES.items():
        mine = (sizes > low) & (sizes <= high)
        offered, times = int(np.sum(mine & arrived)), flows["fct_s"][mine & closed & done]
        served = int(np.sum(mine & arrived & done)) / offered if offered else None
        values: list[float | None] = [None] * 4
        if times.size:
            values = [float(np.mean(times)), *map(float, np.percentile(times, (50, 95, 99)))]
        found[name] = dict(zip(OF_SIZE, (int(times.size), served, *values), strict=True))
    return found


def datagrams(
    table: Mapping[str, Any], calls: Collection[str]
) -> dict[str, dict[str, float | int | None]]:
    """Return what became of the packets of each class of UDP, by the class's name.

    `calls` are the classes whose flows are calls: files have no opinion score.
    """
    if not table:
        return {}
    codes, names = table["class"]
    found: dict[str, dict[str, float | int | None]] = {}
    for row, code in enumerate(codes):
        sent, lost = (int(table[name][row]) for name in ("sent_packets", "lost_packets"))
        one: dict[str, float | int | None] = {"lost_share": lost / sent if sent else None}
        for name in DATAGRAMS:
            if name.endswith("_packets"):
                one[name] = int(table[name][row])
            elif name in table:
                value = float(table[name][row])
                one[name] = None if np.isnan(value) else value
        # the receiver waits for 99 packets of a hundred, and plays them at an even pace
        sounds = mean_opinion(one["lost_share"], one["delay_p99_s"])
        one["call_mos"] = sounds if names[code] in calls else None
        found[names[code]] = {name: one[name] for name in DATAGRAMS}
    return found


def viewers(
    table: Mapping[str, Any], flows: Mapping[str, Any], warmup_s: float
) -> dict[str, dict[str, float | int | None]]:
    """Return what the viewers of each class of video saw, by the class's name.

    Over the viewers whose connection was not over before the end of the
    warm-up, each from its first SYN on, as things stand when it leaves or the run
    ends. `stalled_share` is the time that playback stood still over that and the
    time that was shown, of all of them together.
    """
    if not table:
        return {}
    codes, names = table["class"]
    over = np.fmin(flows["closed_s"], flows["gave_up_s"])[table["flow"]]
    there = ~(over < warmup_s)
    return {
        names[code]: _seen(
            {
                name: np.asarray(column, dtype=float)[there & (codes == code)]
                for name, column in table.items()
                if name != "class"
            }
        )
        for code in np.unique(codes[there])
    }


def _seen(table: Mapping[str, NDArray[np.float64]]) -> dict[str, float | int | None]:
    startup, stalls, rates = table["startup_s"], table["stalls"], table["rate_mean_bps"]
    begun, fetched = startup[~np.isnan(startup)], rates[~np.isnan(rates)]
    stalled, played = float(np.sum(table["stalled_s"])), float(np.sum(table["played_s"]))
    found = (
        int(startup.size),
        1.0 - begun.size / startup.size,
        float(np.mean(begun)) if begun.size else None,
        float(np.percentile(begun, 95)) if begun.size else None,
        float(np.mean(stalls > 0)),
        float(np.mean(stalls)),
        stalled / (stalled + played) if stalled + played > 0 else None,
        float(np.mean(fetched)) if fetched.size else None,
        float(np.mean(table["switches"])),
    )
    return dict(zip(VIEWERS, found, strict=True))


def pages(
    table: Mapping[str, Any], objects: Mapping[str, Any], window: tuple[float, float]
) -> dict[str, dict[str, float | int | None]]:
    """Return how long the pages of each class took, by the class's name.

    `window`: the begin and the end of what is measured, in seconds. Times are over the pages
    that were loaded in it, and over the objects that came in it. Shares are of the pages that
    were started in it, as things stand at the end of the run.
    """
    if not table:
        return {}
    codes, names = table["class"]
    of_object = codes[np.asarray(objects["page"], dtype=int)]
    done = _inside(objects["done_s"], window)
    _, first = np.unique(objects["page"], return_index=True)
    answers = (objects["first_byte_s"] - objects["asked_s"])[first]
    answers[~_inside(objects["first_byte_s"][first], window)] = np.nan
    return {
        names[code]: _loaded(
            {name: each[codes == code] for name, each in table.items() if name != "class"},
            objects["time_s"][done & (of_object == code)],
            window,
        )
        | {"page_answer_s": trimmed(answers[of_object[first] == code]), "rpm": None}
        for code in np.unique(codes)
    }


def _inside(times: NDArray[np.float64], window: tuple[float, float]) -> NDArray[np.bool_]:
    return (times >= window[0]) & (times <= window[1])


def _loaded(
    table: Mapping[str, NDArray[Any]], objects: NDArray[np.float64], window: tuple[float, float]
) -> dict[str, float | int | None]:
    started = _inside(table["start_s"], window)
    count = int(np.sum(started))
    times = table["load_time_s"][_inside(table["loaded_s"], window)]
    ends: list[float | None] = [None, None]
    if count:
        states = (table[name][started] for name in ("loaded_s", "gave_up_s"))
        ends = [float(np.mean(~np.isnan(each))) for each in states]
    load: list[float | None] = [None] * 4
    if times.size:
        load = [float(np.mean(times)), *map(float, np.percentile(times, (50, 95, 99)))]
    found = (
        count,
        int(times.size),
        *ends,
        *load,
        float(np.mean(objects)) if objects.size else None,
        float(np.percentile(objects, 95)) if objects.size else None,
        float(np.mean(table["connections"][started])) if count else None,
    )
    return dict(zip(PAGES[:-2], found, strict=True))
