"""Unit and meaning of every metric, by its name in `metrics`."""

from __future__ import annotations

IN_WINDOW = "in the window"
OF_ARRIVED = "of the flows that arrived in the window; state at the end of the run"

FLOWS: dict[str, tuple[str, str]] = {
    "arrived": ("flows", f"first SYNs sent {IN_WINDOW}"),
    "admitted": (
        "flows",
        f"sessions admitted {IN_WINDOW}: the opening packet that got through reached the receiver",
    ),
    "completed": ("flows", f"flows that closed {IN_WINDOW}"),
    "open": ("flows", "admitted, and not ended at the end of the run"),
    "waiting": ("flows", "neither admitted nor given up at the end of the run"),
    "gave_up": ("flows", f"flows that gave up {IN_WINDOW}"),
    "offered_per_s": ("1/s", "arrived, per second of the window"),
    "admitted_per_s": ("1/s", "admitted, per second of the window"),
    "completed_per_s": ("1/s", "completed, per second of the window"),
    "never_admitted_share": ("1", f"share never admitted, {OF_ARRIVED}"),
    "unfinished_share": ("1", f"share admitted and not completed, {OF_ARRIVED}"),
    "completed_share": ("1", f"share completed, {OF_ARRIVED}"),
    **{
        f"wait_p{percent}_s": (
            "s",
            f"first SYN to admission, percentile {percent} of the flows admitted in the window",
        )
        for percent in (50, 95, 99)
    },
    "fct_mean_s": ("s", "first SYN to close, mean of the flows that closed in the window"),
    **{
        f"fct_p{percent}_s": (
            "s",
            f"first SYN to close, percentile {percent} of the flows that closed in the window",
        )
        for percent in (50, 95, 99)
    },
    **{
        f"{name}_{measure}_s": (
            "s",
            f"{start} to close, {words} of the flows that closed in the window",
        )
        for name, start in (
            ("fct_admitted", "last gate of the path (without a gate, admission)"),
            ("fct_opened", "admission"),
        )
        for measure, words in (
            ("mean", "mean"),
            *((f"p{percent}", f"percentile {percent}") for percent in (50, 95, 99)),
        )
    },
    "goodput_mean_bps": (
        "bit/s",
        "bits delivered over completion time, mean of the flows that closed in the window",
    ),
    "size_mean_bytes": ("B", "mean size of the flows that closed in the window"),
    "share_le_10kB": (
        "1",
        "share of sizes up to 10 000 B among the flows that closed in the window",
    ),
    "retransmitted_packets": ("packets", "data packets sent again, in the whole run"),
    "retransmitted_share": ("1", "data packets sent again, as a share of all data packets sent"),
    "timeouts": ("", "expiries of retransmission timers, in the whole run"),
    "delivered_bytes": ("B", "delivered in order, in the whole run"),
    "open_mean": ("flows", "flows between the last gate and their end, averaged over the window"),
    "flows": ("flows", "flows that started in the run"),
    "endless": ("flows", "of these, flows without end"),
    "throughput_bps": ("bit/s", "delivered in order in the window, over its length"),
    "long_flows": ("flows", "flows that were open for at least a tenth of the window"),
    "flow_rate_min_bps": ("bit/s", "rate of a long flow while open in the window, least"),
    "flow_rate_mean_bps": ("bit/s", "rate of a long flow while open in the window, mean"),
    "flow_rate_max_bps": ("bit/s", "rate of a long flow while open in the window, most"),
    "flow_rate_jain": ("1", "Jain's index of fairness over the rates of the long flows"),
}
"""Of all flows together, and under `CLASS.` of one class where there are several."""

_OF_RTT = "of the round trips that senders measured after the warm-up"
RTTS: dict[str, tuple[str, str]] = {
    "rtt_min_s": ("s", f"shortest {_OF_RTT}"),
    "rtt_mean_s": ("s", f"mean {_OF_RTT}"),
    **{
        f"rtt_p{percent}_s": ("s", f"percentile {percent} (to 1 %) {_OF_RTT}")
        for percent in (50, 95, 99)
    },
}
"""Of a class of TCP, under `CLASS.` where there are several classes."""

_OF_UDP = "of the packets sent after the warm-up"
DATAGRAMS: dict[str, tuple[str, str]] = {
    "sent_packets": ("packets", "packets sent after the warm-up"),
    "received_packets": ("packets", f"received, {_OF_UDP}"),
    "lost_packets": ("packets", f"lost, {_OF_UDP}"),
    "lost_share": ("1", f"share lost, {_OF_UDP}"),
    "delay_min_s": ("s", f"from sender to receiver, shortest, {_OF_UDP}"),
    "delay_mean_s": ("s", f"from sender to receiver, mean, {_OF_UDP}"),
    **{
        f"delay_p{percent}_s": (
            "s",
            f"from sender to receiver, percentile {percent} (to 0.1 %), {_OF_UDP}",
        )
        for percent in (50, 95, 99)
    },
    "delay_max_s": ("s", f"from sender to receiver, longest, {_OF_UDP}"),
    "jitter_s": (
        "s",
        "interarrival jitter of RFC 3550, section 6.4.1, of each flow, averaged over the packets"
        " received",
    ),
}
"""Of a class of UDP, under `CLASS.` where there are several classes."""

_OF_VIDEO = "of the viewers"
VIEWERS: dict[str, tuple[str, str]] = {
    "viewers": ("flows", "viewers who had not left before the end of the warm-up"),
    "never_started_share": ("1", f"share whose playback never began, {_OF_VIDEO}"),
    "startup_mean_s": ("s", f"start-up delay: first SYN to first picture, mean, {_OF_VIDEO}"),
    "startup_p95_s": ("s", f"start-up delay, percentile 95, {_OF_VIDEO}"),
    "stalled_viewers_share": ("1", f"share with at least one stall, {_OF_VIDEO}"),
    "stalls_mean": ("", f"stalls of one viewer, mean, {_OF_VIDEO}"),
    "stalled_share": (
        "1",
        "time in stalls over time in stalls and playing, of all viewers together",
    ),
    "video_rate_mean_bps": (
        "bit/s",
        f"mean rate of the segments of one viewer, mean, {_OF_VIDEO}",
    ),
    "switches_mean": ("", f"changes of the rate by one viewer, mean, {_OF_VIDEO}"),
}
"""Of a class of viewers of video, under `CLASS.` where there are several classes."""

_OF_PAGES = "of the pages started in the window; state at the end of the run"
_OF_LOADED = "of the pages loaded in the window"
PAGES: dict[str, tuple[str, str]] = {
    "pages": ("pages", f"pages that users started to load {IN_WINDOW}"),
    "pages_loaded": ("pages", f"pages loaded {IN_WINDOW}"),
    "pages_loaded_share": ("1", f"share loaded, within the users' patience, {_OF_PAGES}"),
    "pages_given_up_share": ("1", f"share given up, {_OF_PAGES}"),
    "page_load_mean_s": ("s", f"page load time: start to last object, mean {_OF_LOADED}"),
    **{
        f"page_load_p{percent}_s": ("s", f"page load time, percentile {percent} {_OF_LOADED}")
        for percent in (50, 95, 99)
    },
    "object_time_mean_s": (
        "s",
        "from the instant at which a page needs an object until it has come, waiting for a"
        " connection included, mean of the objects that came in the window",
    ),
    "object_time_p95_s": ("s", "the same, percentile 95"),
    "page_connections_mean": (
        "",
        "connections opened for a page, mean of the pages started in the window",
    ),
}
"""Of a class of users who load pages, under `CLASS.` where there are several classes."""

SIZES: dict[str, tuple[str, str]] = {
    "completed": ("flows", "flows of this size that closed in the window"),
    "completed_share": ("1", f"share of flows of this size completed, {OF_ARRIVED}"),
    "fct_mean_s": (
        "s",
        "first SYN to close, mean of the flows of this size that closed in the window",
    ),
    **{
        f"fct_p{percent}_s": ("s", f"first SYN to close, percentile {percent} of the same")
        for percent in (50, 95, 99)
    },
}
"""Of the flows of a bin of sizes, under `to_10kB.`, `to_100kB.`, `to_1MB.` and `above_1MB.`."""

WHOLE: dict[str, tuple[str, str]] = {
    "jain": (
        "1",
        "Jain's index of fairness over the rates of the flows: 1 all equal, 1/n one takes all",
    ),
}
"""Of the run as a whole."""

_BACKLOG = "delay of the queue, its bytes over the capacity (no access links)"
PORTS: dict[str, tuple[str, str]] = {
    "syn_arrived": ("packets", "opening packets that arrived"),
    "syn_refused": ("packets", "opening packets refused by the gate"),
    "syn_dropped": ("packets", "opening packets lost at the port, for any reason"),
    "data_arrived": ("packets", "data packets that arrived"),
    "data_dropped": ("packets", "data packets lost at the port, for any reason"),
    "marked": ("packets", "packets marked with congestion experienced (ECN)"),
    "departed": ("packets", "packets whose transmission started"),
    "offered_load": (
        "1",
        "offered load: payload of the flows that are expected in the run, in parts of what the"
        " capacity carries in that time; null with flows without end",
    ),
    "utilisation": ("1", "share of the window in which the link was transmitting"),
    "queue_mean_packets": ("packets", "packets waiting, averaged over the window"),
    **{
        f"queue_p{percent}_packets": ("packets", f"packets waiting, percentile {percent} over time")
        for percent in (95, 99)
    },
    "queue_delay_mean_s": ("s", f"{_BACKLOG}, mean over time"),
    **{
        f"queue_delay_p{percent}_s": ("s", f"{_BACKLOG}, percentile {percent} over time")
        for percent in (95, 99)
    },
    "syn_refused_share": ("1", "share of the opening packets refused by the gate"),
}
"""Of one port, under `PORT.`, in the window."""

DROPS = "packets lost at the port for this reason, as `drops_REASON` of the table `ports`"
"""What `PORT.drops.REASON` means."""
