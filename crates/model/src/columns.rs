//! Every column of the results: its name, unit, kind and meaning.
//!
//! This is the one table of them. The simulator fills these columns in this
//! order, and the documentation is checked against them.

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Floating-point numbers; NaN where there is nothing to say.
    F64,
    /// Whole numbers of 64 bits.
    U64,
    /// Whole numbers of 32 bits.
    U32,
    /// One of a few names.
    Category,
}

/// One column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// Unit: `s`, `bit/s`, `B`, `packets`, `flows`, `sessions`, or `1` for a share; empty for names and numbers of things.
    pub unit: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it means.
    pub meaning: &'static str,
}

/// Makes a table from one line for each column: name, unit, kind and meaning.
macro_rules! columns {
    ($($name:literal $unit:literal $kind:ident $meaning:literal;)+) => {
        &[$(Column { name: $name, unit: $unit, kind: $kind, meaning: $meaning }),+]
    };
}

use Kind::{Category, F64, U32, U64};

/// Columns of `flows`: a row for each flow that started.
pub const FLOWS: &[Column] = columns! {
    "flow" "" U64 "number of the flow, in the order of the starts";
    "class" "" Category "traffic class";
    "size_bytes" "B" F64 "how much the flow has to send; empty: without end";
    "start_s" "s" F64 "first SYN sent, or first packet of UDP";
    "admitted_s" "s" F64 "the opening packet that got through passed the last gated port of its path, else reached the receiver";
    "data_done_s" "s" F64 "last byte delivered in order";
    "closed_s" "s" F64 "acknowledgement of the FIN received; of UDP: everything was sent";
    "gave_up_s" "s" F64 "the user or the transport gave up, or the session was refused by a reset";
    "fct_s" "s" F64 "flow completion time: start to close";
    "fct_admitted_s" "s" F64 "admission to close";
    "goodput_bps" "bit/s" F64 "bits delivered over flow completion time";
    "syn_tries" "packets" U32 "opening packets sent, retries included";
    "retransmitted_packets" "packets" U32 "data packets sent again";
    "timeouts" "" U32 "expiries of the retransmission timer, those of the SYN not counted";
    "sent_packets" "packets" U32 "data packets sent, retransmissions included";
    "delivered_bytes" "B" U64 "bytes delivered in order so far";
};

/// Columns of `ports`: a row for each sampled port and interval.
pub const PORTS: &[Column] = columns! {
    "time_s" "s" F64 "end of the interval";
    "port" "" Category "port";
    "capacity_bps" "bit/s" U64 "capacity at the end of the interval";
    "syn_arrived" "packets" U32 "opening packets that arrived";
    "syn_refused" "packets" U32 "of these, dropped or rejected by the gate";
    "syn_dropped" "packets" U32 "opening packets lost here for whatever reason: refused, dropped by the queue, or lost on the link";
    "data_arrived" "packets" U32 "data packets that arrived";
    "data_dropped" "packets" U32 "of these, dropped here or lost on the link, for whatever reason";
    "arrived_packets" "packets" U32 "packets that arrived";
    "departed_packets" "packets" U32 "packets whose transmission started";
    "departed_bytes" "B" U64 "bytes of these, headers included";
    "drops_queue_full" "packets" U32 "dropped because the queue was full";
    "drops_early" "packets" U32 "dropped by the queue's law before it was full, on arrival or when it was their turn";
    "drops_session_refused" "packets" U32 "dropped or rejected because the gate refused the session";
    "drops_evicted" "packets" U32 "taken out of the queue to make room for another packet";
    "drops_custom" "packets" U32 "dropped by a law of the user's own";
    "drops_link_loss" "packets" U32 "lost on the link, after their transmission";
    "drops_connection" "packets" U32 "connection packets (SYN, SYN+ACK) that a dual queue dropped because of the data that waits";
    "drops_filtered" "packets" U32 "taken out by a filter against their origin; only where a port of the scenario has a filter";
    "marked" "packets" U32 "marked as having met congestion, instead of dropped";
    "queue_packets" "packets" U64 "packets waiting at the end of the interval, the one in transmission not counted";
    "queue_bytes" "B" U64 "bytes of these";
    "queue_mean_packets" "packets" F64 "packets waiting, averaged over the interval's time";
    "avg_queue_packets" "packets" F64 "the average queue that the queue's law goes by, at the end of the interval; empty: it keeps none";
    "utilisation" "1" F64 "share of the interval in which the link was transmitting";
};

/// Columns of `port_totals`: a row for each port, access links included, whose
/// interval is the time after the warm-up.
pub const PORT_TOTALS: &[Column] = PORTS;

/// Columns of `events`: a row for each decision of a law.
pub const EVENTS: &[Column] = columns! {
    "time_s" "s" F64 "end of the epoch";
    "port" "" Category "port";
    "law" "" Category "the law that decided";
    "phase" "" Category "the phase that the law is in now";
    "set" "" F64 "what it set: for a session law, sessions allowed per epoch, infinite: all; for a rate law, the rate in bit/s (xcp: the change of it that all flows should make; vcp: the code of the load); for pie, the share of packets to drop; for a filter, the node whose packets it takes out, by its place in the network, from 0; empty: none";
    "from" "" F64 "what it set it from: for a session law, (smoothed) completions per epoch, occupancy or loss rate; for a rate law, the number of flows (xcp: the control interval in seconds; vcp: the load); for pie, the queue's delay in seconds; for a filter, the waiting packets of that node, or of all where none is greedy, or 0 where a neighbour asked";
    "arrived" "sessions" U64 "opening packets that arrived in the epoch";
    "admitted" "sessions" U64 "of these, let through";
    "departed" "sessions" U64 "sessions that ended in the epoch";
};

/// Columns of `arrivals`: a row for each packet that came to a port whose arrivals are recorded.
pub const ARRIVALS: &[Column] = columns! {
    "time_s" "s" F64 "when it came";
    "port" "" Category "port";
    "origin" "" Category "the node that sent it";
    "number" "" U32 "its place in its flow, in packets, from 0";
    "queue_packets" "packets" U32 "packets that it found waiting, the one in transmission not counted";
    "avg_queue_packets" "packets" F64 "the average queue of the queue's law, or of the filter, after it; empty: neither keeps one";
    "fate" "" Category "`queued`, or the reason why the port lost it";
};

/// Columns of `flow_series`: a row for each flow that `series` follows and interval, from its
/// first packet to its end.
pub const FLOW_SERIES: &[Column] = columns! {
    "time_s" "s" F64 "end of the interval";
    "flow" "" U64 "number of the flow, as in `flows`";
    "class" "" Category "traffic class";
    "number" "" U32 "its place in its class, from 0";
    "cwnd_packets" "packets" F64 "congestion window, in segments; empty: UDP has none";
    "srtt_s" "s" F64 "smoothed round-trip time of its sender; empty: not measured yet, or UDP";
    "flight_packets" "packets" F64 "segments sent and not acknowledged, as its sender counts them; empty: UDP does not";
    "rate_bps" "bit/s" F64 "payload delivered in order over the interval";
};

/// Columns of `class_series`: a row for each class that `series` follows and interval.
pub const CLASS_SERIES: &[Column] = columns! {
    "time_s" "s" F64 "end of the interval";
    "class" "" Category "traffic class";
    "open_flows" "flows" U32 "flows admitted and not over at the end of the interval";
    "rate_bps" "bit/s" F64 "payload delivered in order over the interval, of all flows";
};

/// Columns of `queue_series`: a row for each port that is no access link, class that `series`
/// follows and interval.
pub const QUEUE_SERIES: &[Column] = columns! {
    "time_s" "s" F64 "end of the interval";
    "port" "" Category "port";
    "class" "" Category "traffic class";
    "queue_packets" "packets" U32 "packets of its open flows that wait, the one in transmission not counted";
    "queue_bytes" "B" U64 "bytes of these";
};

/// Columns of `udp`: a row for each class of UDP, about the packets sent after the warm-up.
pub const UDP: &[Column] = columns! {
    "class" "" Category "traffic class";
    "sent_packets" "packets" U64 "packets sent after the warm-up";
    "received_packets" "packets" U64 "of these, packets that reached their receiver";
    "lost_packets" "packets" U64 "of these, packets that never will: neither received nor under way at the end";
    "delay_min_s" "s" F64 "shortest delay from sender to receiver";
    "delay_mean_s" "s" F64 "mean delay";
    "delay_p50_s" "s" F64 "median delay, to 0.1 %";
    "delay_p95_s" "s" F64 "percentile 95 of the delay, to 0.1 %";
    "delay_p99_s" "s" F64 "percentile 99 of the delay, to 0.1 %";
    "delay_max_s" "s" F64 "longest delay";
    "jitter_s" "s" F64 "interarrival jitter of RFC 3550, section 6.4.1, of each flow, averaged over the packets received";
};

/// Columns of `video`: a row for each viewer, as things stand when the viewer leaves or the run ends.
pub const VIDEO: &[Column] = columns! {
    "flow" "" U64 "number of the flow, as in `flows`";
    "class" "" Category "traffic class";
    "startup_s" "s" F64 "start-up delay: from the first SYN to the first picture; empty: playback never began";
    "stalls" "" U32 "how often the buffer ran dry before the film was over";
    "stalled_s" "s" F64 "how long playback stood still for that";
    "played_s" "s" F64 "playing time that was shown";
    "segments" "" U32 "segments that have come";
    "rate_mean_bps" "bit/s" F64 "mean rate of these; empty: none has come";
    "switches" "" U32 "requests at another rate than the one before";
};

/// Every table with its columns.
pub const TABLES: [(&str, &[Column]); 10] = [
    ("flows", FLOWS),
    ("ports", PORTS),
    ("events", EVENTS),
    ("arrivals", ARRIVALS),
    ("flow_series", FLOW_SERIES),
    ("class_series", CLASS_SERIES),
    ("queue_series", QUEUE_SERIES),
    ("udp", UDP),
    ("video", VIDEO),
    ("port_totals", PORT_TOTALS),
];

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::law::Reason;

    #[test]
    fn every_reason_to_drop_a_packet_has_its_column() {
        for reason in Reason::ALL {
            let name = format!("drops_{}", reason.name());
            for table in [PORTS, PORT_TOTALS] {
                assert!(table.iter().any(|column| column.name == name), "{name}");
            }
        }
    }

    #[test]
    fn the_end_of_a_name_is_its_unit() {
        let ends = [("_s", "s"), ("_bps", "bit/s"), ("_bytes", "B"), ("_packets", "packets")];
        for (table, columns) in TABLES {
            for column in columns {
                for (end, unit) in ends {
                    if column.name.ends_with(end) {
                        assert_eq!(column.unit, unit, "{table}.{}", column.name);
                    }
                }
            }
        }
    }

    #[test]
    fn no_table_has_a_name_twice() {
        for (table, columns) in TABLES {
            let mut names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), columns.len(), "{table}");
        }
    }
}
