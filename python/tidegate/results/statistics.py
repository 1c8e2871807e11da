"""Every mean, percentile and interval of tidegate.

Times are in seconds from the start of the run. The *window* is [warm-up, end
of the run]. An event (arrival, admission, completion) counts when it falls
into the window; means and percentiles of completion times are over the flows
that closed in it. What has not happened is NaN in arrays, null in frames and
files, None in summaries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tidegate.results.access import by_role, role
from tidegate.results.breakdown import (
    DATAGRAMS,
    OF_SIZE,
    PAGES,
    SIZES,
    VIEWERS,
    by_size,
    datagrams,
    pages,
    viewers,
)
from tidegate.results.columns import completed, flows_hash, select
from tidegate.results.long_flows import RTTS, jain, long_flows, round_trips
from tidegate.results.responsiveness import of_class
from tidegate.results.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from tidegate.results.simulate import Outcome

    Floats: TypeAlias = NDArray[np.float64]

SMALL_BYTES = 10_000
"""Flows up to this size count as small in `share_le_10kB`."""


def mean(values: Floats) -> float | None:
    """Return the arithmetic mean, or None of nothing."""
    return float(np.mean(values)) if values.size else None


def percentile(values: Floats, percent: float) -> float | None:
    """Return a percentile, linear between order statistics, or None of nothing."""
    return float(np.percentile(values, percent)) if values.size else None


def known(values: Floats) -> Floats:
    """Return the values that are not NaN."""
    return values[~np.isnan(values)]


def share(part: float, whole: float) -> float | None:
    """Return part / whole, or None where there is no whole."""
    return part / whole if whole else None


def interval(values: Iterable[float | None]) -> dict[str, float | None]:
    """Return mean and 95 % confidence interval over seeds (Student's t).

    Seeds where the metric is undefined are left out. With fewer than two
    values there is a mean, but nothing can be said about its interval.
    """
    defined = np.array([value for value in values if value is not None], dtype=float)
    if defined.size == 0:
        return {"mean": None, "low": None, "high": None}
    centre = float(np.mean(defined))
    if defined.size == 1:
        return {"mean": centre, "low": None, "high": None}
    from tidegate import _native

    deviation = float(np.std(defined, ddof=1)) / defined.size**0.5
    half = _native.student_t_quantile(0.975, defined.size - 1) * deviation
    return {"mean": centre, "low": centre - half, "high": centre + half}


def time_average(begins: Floats, ends: Floats, window: Window) -> float | None:
    """Return the time average, over the window, of how many of the spans are under way.

    A span without a begin never was; one without an end lasts beyond the window.
    None: there is nothing to measure.
    """
    begun = ~np.isnan(begins)
    first = np.maximum(begins[begun], window.start)
    last = np.minimum(np.nan_to_num(ends[begun], nan=np.inf), window.end)
    return window.rate(float(np.sum(np.maximum(last - first, 0.0))))


def class_statistics(flows: Mapping[str, Any], window: Window) -> dict[str, Any]:
    """Return the measures of a set of flows.

    Counts of events in the window:
    `arrived` first SYNs sent, `admitted`, `completed` (closed), `gave_up`;
    `offered_per_s`, `admitted_per_s`, `completed_per_s` the same per second.
    State at the end of the run, over all flows ever: `open` admitted and not
    over, `waiting` neither admitted nor given up.
    Of the flows that arrived in the window, as things stand at the end of the
    run: `never_admitted_share`, `unfinished_share` (admitted, not completed)
    and `completed_share`; together they are 1.
    A session is admitted when the opening packet that got through reaches the
    receiver, with and without a gate on its path.
    Over flows admitted in the window: `wait_p50_s`, `wait_p95_s`, `wait_p99_s`, first
    SYN to admission.
    Over flows that completed in the window: `fct_*_s` from the first SYN,
    `fct_opened_*_s` from admission, `fct_admitted_*_s` from the last gate of the
    path (without a gate, from admission), `goodput_mean_bps`, `size_mean_bytes`,
    `share_le_10kB` (share of sizes up to 10 000 B).
    Over all flows ever: `retransmitted_packets`, `timeouts`, `delivered_bytes`
    (in order, so far), and `retransmitted_share` of all data transmissions.
    `open_mean`: time average of flows between the last gate and their end.
    Of flows that last: see `long_flows`.
    """
    start, admitted, closed = flows["start_s"], flows["admitted_s"], flows["closed_s"]
    reached, gave_up = flows["reached_s"], flows["gave_up_s"]
    in_arrived, in_admitted = window.has(start), window.has(reached)
    done = completed(flows)
    in_closed, in_gave_up = window.has(closed) & done, window.has(gave_up)
    never_in, unfinished = np.isnan(admitted), np.isnan(closed) & np.isnan(gave_up)
    sizes = np.asarray(flows["size_bytes"], dtype=float)[in_closed]
    sizes = known(sizes)  # a flow without end that was stopped has none
    sent, again = int(np.sum(flows["sent_packets"])), int(np.sum(flows["retransmitted_packets"]))
    counts = [int(np.sum(each)) for each in (in_arrived, in_admitted, in_closed, in_gave_up)]
    arrived = counts[0]
    return {
        "arrived": arrived,
        "admitted": counts[1],
        "completed": counts[2],
        "open": int(np.sum(~never_in & unfinished)),
        "waiting": int(np.sum(never_in & unfinished)),
        "gave_up": counts[3],
        "offered_per_s": window.rate(arrived),
        "admitted_per_s": window.rate(counts[1]),
        "completed_per_s": window.rate(counts[2]),
        "never_admitted_share": share(int(np.sum(in_arrived & never_in)), arrived),
        "unfinished_share": share(int(np.sum(in_arrived & ~never_in & ~done)), arrived),
        "completed_share": share(int(np.sum(in_arrived & done)), arrived),
        **_times(flows, in_admitted, in_closed),
        "goodput_mean_bps": mean(known(flows["goodput_bps"][in_closed])),
        "size_mean_bytes": mean(sizes),
        "share_le_10kB": share(int(np.sum(sizes <= SMALL_BYTES)), sizes.size),
        "retransmitted_packets": again,
        "retransmitted_share": share(again, sent),
        "timeouts": int(np.sum(flows["timeouts"])),
        "delivered_bytes": int(np.sum(flows["delivered_bytes"])),
        "open_mean": time_average(admitted, np.fmin(closed, gave_up), window),
        **long_flows(flows, window),
    }


def _times(
    flows: Mapping[str, Any], admitted: NDArray[np.bool_], closed: NDArray[np.bool_]
) -> dict[str, float | None]:
    """Return how long flows admitted in the window waited, and those closed in it took."""
    reached = flows["reached_s"]
    found: dict[str, float | None] = _spread("wait", (reached - flows["start_s"])[admitted])
    taken = {
        "fct": known(flows["fct_s"][closed]),
        "fct_admitted": known(flows["fct_admitted_s"][closed]),
        # connections of pages have no time of completion
        "fct_opened": (flows["closed_s"] - reached)[closed & ~np.isnan(flows["fct_s"])],
    }
    for name, times in taken.items():
        found |= {f"{name}_mean_s": mean(times), **_spread(name, times)}
    return found


def _spread(name: str, values: Floats) -> dict[str, float | None]:
    return {f"{name}_p{percent}_s": percentile(values, percent) for percent in (50, 95, 99)}


def goodputs(flows: Mapping[str, Any], window: Window) -> Floats:
    """Return the rate that each served flow got, in bit/s, for Jain's index.

    Flows that closed in the window have their goodput; flows still open at
    the end what was delivered since their first SYN. Connections of users who
    load pages have no goodput, and are left out once they have closed.
    """
    closed, start = flows["closed_s"], flows["start_s"]
    ended = window.has(closed)
    still = ~np.isnan(flows["admitted_s"]) & np.isnan(closed) & np.isnan(flows["gave_up_s"])
    still &= start < window.end
    delivered = np.asarray(flows["delivered_bytes"], dtype=float)[still]
    rates = delivered * 8.0 / (window.end - start[still])
    return np.concatenate([known(flows["goodput_bps"][ended]), rates])


QUEUES = (
    "queue_p95_packets",
    "queue_p99_packets",
    "queue_delay_mean_s",
    "queue_delay_p95_s",
    "queue_delay_p99_s",
)
"""What is measured of the queue of a port that is no access link."""


def port_statistics(
    totals: Mapping[str, Any],
    queues: Mapping[str, Any] | None = None,
    offered: Mapping[str, float | None] | None = None,
) -> list[dict[str, Any]]:
    """Return what each port did in the window; counts are packets, times of SYNs included.

    `queues`: the table of that name, about the ports that are no access links.
    `offered`: the load offered to ports, in parts of the capacity.
    """
    places = {code: row for row, code in enumerate(queues["port"][0])} if queues else {}
    codes, names = totals["port"]
    reasons = [name for name in totals if name.startswith("drops_")]
    plain = ("syn_arrived", "syn_refused", "syn_dropped", "data_arrived", "data_dropped", "marked")
    ports = []
    for row, code in enumerate(codes):
        port: dict[str, Any] = {"name": names[code]}
        port |= {name: int(totals[name][row]) for name in plain}
        port["departed"] = int(totals["departed_packets"][row])
        port["offered_load"] = (offered or {}).get(names[code])
        port["utilisation"] = float(totals["utilisation"][row])
        port["queue_mean_packets"] = float(totals["queue_mean_packets"][row])
        for name in QUEUES:
            there = queues is not None and code in places
            value = float(queues[name][places[code]]) if queues and there else np.nan
            # no delay: an access link, or no instant of the window had a capacity
            port[name] = None if np.isnan(value) else value
        port["drops"] = {name.removeprefix("drops_"): int(totals[name][row]) for name in reasons}
        port["drops"].setdefault("filtered", 0)  # its column is there only with a filter
        ports.append(port)
    return ports


def summarise(outcome: Outcome) -> dict[str, Any]:
    """Return the summary of one run: the object that `tidegate run --json` prints."""
    scenario, tables = outcome.scenario, outcome.tables
    flows = {**tables["flows"], **tables["flow_window"]}
    window = Window(scenario.warmup_s, scenario.duration_s)
    codes, names = flows["class"]
    together, parts = class_statistics(flows, window), round_trips(tables["rtt"])
    kinds = (
        datagrams(tables["udp"], scenario.calls),
        viewers(tables["video"], flows, window.start),
        pages(tables["pages"], tables["objects"], (window.start, window.end)),
    )
    for name in parts:
        for kind in kinds:
            parts[name] |= kind.get(name, {})
    if len(names) == 1:
        together |= parts.get(names[0], {})
        classes = [{"name": names[0], **together}]
    else:
        classes = [
            {"name": name, **class_statistics(select(flows, codes == code), window)}
            | parts.get(name, {})
            for code, name in enumerate(names)
        ]
    for each in (*classes, *([together] if len(classes) == 1 else [])):
        if "rpm" in each:
            each["rpm"] = of_class(each, classes)
    return {
        "scenario": scenario.name,
        "seed": outcome.seed,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "classes": classes,
        "all": together,
        "sizes": by_size(flows, window.has(flows["start_s"]), window.has(flows["closed_s"])),
        "ports": port_statistics(
            tables["port_totals"],
            tables["queues"],
            {name: part for name, _, part, *_ in scenario.offered},
        ),
        "jain": jain(goodputs(flows, window)),
        "people": scenario.people,
        "ways": scenario.ways,
        "warnings": scenario.warnings,
        "packet_hops": outcome.packet_hops,
        "delivered_packets": outcome.delivered_packets,
        "cpu_s": outcome.cpu_s,
        "flows_hash": flows_hash(flows, tables["pages"]),
        "result_hash": outcome.result_hash,
    }


def metrics(summary: Mapping[str, Any], asked: Sequence[str] = ()) -> dict[str, float | None]:
    """Return the numbers of a summary under one flat name each.

    The ports of access links are put together by their role (`access.sources`), but for
    those that `asked` names.

    Measures of all flows together have their own name, those of one class
    (where there are several), bin of sizes or port are prefixed:
    `web.fct_mean_s`, `to_10kB.fct_p95_s`, `bottleneck.utilisation`,
    `bottleneck.drops.queue_full`.
    """
    flat = dict(summary["all"])
    flat["jain"] = summary["jain"]
    for size, found in summary.get("sizes", {}).items():
        flat |= {f"{size}.{key}": value for key, value in found.items()}
    if len(summary["classes"]) > 1:
        for each in summary["classes"]:
            flat |= {f"{each['name']}.{key}": each[key] for key in each if key != "name"}
    alone = [
        port
        for port in (summary["ports"] if asked else ())
        if role(port["name"]) and any(each.startswith(f"{port['name']}.") for each in asked)
    ]
    for port in [*by_role(summary["ports"]), *alone]:
        name = port["name"]
        flat |= {f"{name}.{key}": port[key] for key in port if key not in ("name", "drops")}
        flat |= {f"{name}.drops.{reason}": count for reason, count in port["drops"].items()}
        refused = share(port["syn_refused"], port["syn_arrived"])
        flat[f"{name}.syn_refused_share"] = refused
    return flat


def metric_names(classes: Sequence[str], ports: Sequence[str]) -> list[str]:
    """Return the names that `metrics` gives a run of these classes, were each of every kind."""
    from tidegate import _native

    columns = _native.columns()
    none: dict[str, Any] = {
        name: np.zeros(0) for table in ("flows", "flow_window") for name, *_ in columns[table]
    }
    together = class_statistics(none, Window(0.0, 1.0))
    every = together | dict.fromkeys((*RTTS, *DATAGRAMS, *VIEWERS, *PAGES))
    totals: dict[str, Any] = {name: np.zeros(len(ports)) for name, *_ in columns["port_totals"]}
    totals["port"] = (range(len(ports)), list(ports))
    nothing = {
        "all": every if len(classes) == 1 else together,
        "jain": None,
        "sizes": {size: dict.fromkeys(OF_SIZE) for size in SIZES},
        "classes": [{"name": name, **every} for name in classes],
        "ports": port_statistics(totals),
    }
    return list(metrics(nothing))


def aggregate(
    summaries: Sequence[Mapping[str, Any]], asked: Sequence[str] = ()
) -> dict[str, dict[str, float | None]]:
    """Return mean and interval over seeds of every metric; `asked` as in `metrics`."""
    each = [metrics(summary, asked) for summary in summaries]
    names = dict.fromkeys(name for one in each for name in one)
    return {name: _within_a_whole(name, interval(one.get(name) for one in each)) for name in names}


def _within_a_whole(name: str, found: dict[str, float | None]) -> dict[str, float | None]:
    """Clip the interval of a share to 0 and 1."""
    own = name.rpartition(".")[2]
    if (
        own not in ("utilisation", "jain", "flow_rate_jain")
        and not own.endswith("_share")
        and "share_le" not in own
    ):
        return found
    low, high = found["low"], found["high"]
    if low is None or high is None:
        return found
    return found | {"low": max(low, 0.0), "high": min(high, 1.0)}


def same_flows(these: Sequence[Mapping[str, Any]], those: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the runs of each seed that both have met the same flows."""
    other = {summary["seed"]: summary.get("flows_hash") for summary in those}
    both = [summary for summary in these if summary["seed"] in other]
    # a run that was saved without the digest proves nothing
    return all(
        summary.get("flows_hash") is not None and summary["flows_hash"] == other[summary["seed"]]
        for summary in both
    )


def differences(
    these: Sequence[Mapping[str, Any]],
    those: Sequence[Mapping[str, Any]],
    *,
    paired: bool,
    asked: Sequence[str] = (),
) -> dict[str, dict[str, float | None]]:
    """Return mean and 95 % interval of what `these` have more than `those`, metric by metric.

    `paired`: runs of one seed met the same flows, so they are subtracted seed by
    seed. What differs between seeds falls out, and the interval is far narrower
    than those of the two means. Otherwise the two samples are independent.
    """
    here, there = ({row["seed"]: metrics(row, asked) for row in rows} for rows in (these, those))
    seeds = [seed for seed in here if seed in there]
    names = here[seeds[0]] if seeds else {}

    def each(name: str) -> dict[str, float | None]:
        pairs = [(here[seed].get(name), there[seed].get(name)) for seed in seeds]
        if paired:
            return interval(_difference(one, other) for one, other in pairs)
        return unpaired(*zip(*pairs, strict=True))

    return {name: each(name) for name in names}


def side(between: Mapping[str, float | None], edge: float = 0.0) -> int:
    """Return 1 if an interval lies above `edge`, -1 if below `-edge`, otherwise 0."""
    low, high = between["low"], between["high"]
    return 0 if low is None or high is None else (low > edge) - (high < -edge)


def unpaired(
    these: Iterable[float | None], those: Iterable[float | None]
) -> dict[str, float | None]:
    """Return the difference of two means and its 95 % interval, for independent samples.

    Welch (1947): the variances may differ, and Satterthwaite's degrees of freedom
    go into Student's t. Seeds where the metric is undefined are left out.
    """
    samples = [
        np.array([value for value in values if value is not None], dtype=float)
        for values in (these, those)
    ]
    if any(sample.size == 0 for sample in samples):
        return {"mean": None, "low": None, "high": None}
    centre = float(np.mean(samples[0]) - np.mean(samples[1]))
    if any(sample.size == 1 for sample in samples):
        return {"mean": centre, "low": None, "high": None}
    errors = [float(np.var(sample, ddof=1)) / sample.size for sample in samples]
    if sum(errors) == 0.0:
        return {"mean": centre, "low": centre, "high": centre}
    from tidegate import _native

    freedom = sum(errors) ** 2 / sum(
        error**2 / (sample.size - 1) for error, sample in zip(errors, samples, strict=True)
    )
    half = _native.student_t_quantile(0.975, freedom) * sum(errors) ** 0.5
    return {"mean": centre, "low": centre - half, "high": centre + half}


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
