//! Every table of the results: its columns, each with unit, kind and meaning, and the record that is
//! a row of it.
//!
//! One line here is a column. The record of its table has a field of that name, and a row cannot be
//! made without a value for it. The documentation is checked against the headings.

tidegate_core::named! {
    /// What a column holds; the names are those of numpy's types.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    ColumnKind:
    /// Floating-point numbers; NaN where there is nothing to say.
    F64 = "float64",
    /// Whole numbers of 64 bits.
    U64 = "uint64",
    /// Whole numbers of 32 bits.
    U32 = "uint32",
    /// One of a few names.
    Category = "category",
}

/// What is known of a column before it has values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heading {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// Unit: `s`, `bit/s`, `B`, `packets`, `flows`, `sessions`, or `1` for a share; empty for names and numbers of things.
    pub unit: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// What it means.
    pub meaning: &'static str,
}

/// One column of a result table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its values.
    pub data: Data,
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Real numbers; NaN where there is none.
    F64(Vec<f64>),
    /// Counts.
    U64(Vec<u64>),
    /// Small counts.
    U32(Vec<u32>),
    /// Names, each stored once.
    Category {
        /// Place of each value in `names`.
        codes: Vec<u32>,
        /// The names.
        names: Vec<String>,
    },
}

impl Data {
    /// How many values there are.
    pub fn rows(&self) -> usize {
        match self {
            Data::F64(values) => values.len(),
            Data::U64(values) => values.len(),
            Data::U32(values) | Data::Category { codes: values, .. } => values.len(),
        }
    }
}

/// A name, by its place in the list of names of its column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Category(pub u32);

/// A value in a row.
pub trait Cell: Copy {
    /// What its column holds.
    const KIND: ColumnKind;
    /// Zero, of which a column begins with many.
    const ZERO: Self;
    /// Whether this is zero, to the bit.
    fn is_zero(self) -> bool;
    /// The column of these values; `names`: what the places in it stand for.
    fn data(values: Vec<Self>, names: impl FnOnce() -> Vec<String>) -> Data;
}

macro_rules! cells {
    ($($Type:ident $Kind:ident;)+) => {
        $(impl Cell for $Type {
            const KIND: ColumnKind = ColumnKind::$Kind;
            const ZERO: $Type = 0 as $Type;
            #[inline]
            fn is_zero(self) -> bool {
                self.to_le_bytes() == Self::ZERO.to_le_bytes()
            }
            fn data(values: Vec<$Type>, _: impl FnOnce() -> Vec<String>) -> Data {
                Data::$Kind(values)
            }
        })+
    };
}

cells! {
    f64 F64;
    u64 U64;
    u32 U32;
}

impl Cell for Category {
    const KIND: ColumnKind = ColumnKind::Category;
    const ZERO: Category = Category(0);
    #[inline]
    fn is_zero(self) -> bool {
        self.0 == 0
    }
    fn data(values: Vec<Category>, names: impl FnOnce() -> Vec<String>) -> Data {
        Data::Category { codes: values.into_iter().map(|value| value.0).collect(), names: names() }
    }
}

/// The values of a column that grows. Most counts of most ports stay zero to the end, and each value
/// that is written takes new memory: as long as all values are zero, only their number is kept.
pub struct Values<T> {
    zeros: usize,
    rest: Vec<T>,
}

impl<T: Cell> Values<T> {
    /// No value yet, with room for so many.
    fn with_capacity(most: usize) -> Values<T> {
        Values { zeros: 0, rest: Vec::with_capacity(most) }
    }

    #[inline]
    fn push(&mut self, value: T) {
        if self.rest.is_empty() && value.is_zero() {
            self.zeros += 1;
        } else {
            self.rest.push(value);
        }
    }

    fn all(self) -> Vec<T> {
        if self.zeros == 0 {
            return self.rest;
        }
        let mut all = vec![T::ZERO; self.zeros];
        all.extend(self.rest);
        all
    }
}

/// The record of a row.
pub trait Record: Sized {
    /// The columns of its table.
    type Columns;
    /// Empty columns, with room for so many rows.
    fn columns(most: usize) -> Self::Columns;
    /// Adds the row.
    fn push(self, columns: &mut Self::Columns);
    /// Names the columns; `names` gives the names of a column of categories.
    fn name(columns: Self::Columns, names: impl Fn(&str) -> Vec<String>) -> Vec<Column>;
}

/// A table that grows row by row, and is stored by columns: rows would be written twice.
pub struct Table<R: Record>(R::Columns);

impl<R: Record> Default for Table<R> {
    fn default() -> Table<R> {
        Table(R::columns(0))
    }
}

impl<R: Record> Table<R> {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: R) {
        row.push(&mut self.0);
    }

    /// Its columns; `names` gives the names of a column of categories.
    pub fn columns(self, names: impl Fn(&str) -> Vec<String>) -> Vec<Column> {
        R::name(self.0, names)
    }
}

/// Makes the record of a row and the headings of its table from one line for each column:
/// `name: type unit meaning`.
macro_rules! table {
    (
        $(#[$about:meta])* $Row:ident of $TABLE:ident:
        $($column:ident: $Type:ident $unit:literal $meaning:literal;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $Row {
            $(#[doc = $meaning] pub $column: $Type,)+
        }

        #[doc = concat!("Columns of [`", stringify!($Row), "`].")]
        pub const $TABLE: &[Heading] = &[$(Heading {
            name: stringify!($column),
            unit: $unit,
            kind: <$Type as Cell>::KIND,
            meaning: $meaning,
        }),+];

        impl Record for $Row {
            type Columns = ($(Values<$Type>,)+);

            fn columns(most: usize) -> Self::Columns {
                ($(Values::<$Type>::with_capacity(most),)+)
            }

            #[inline]
            fn push(self, ($($column,)+): &mut Self::Columns) {
                $($column.push(self.$column);)+
            }

            fn name(
                ($($column,)+): Self::Columns,
                names: impl Fn(&str) -> Vec<String>,
            ) -> Vec<Column> {
                vec![$({
                    let name = stringify!($column);
                    Column { name, data: <$Type as Cell>::data($column.all(), || names(name)) }
                }),+]
            }
        }

        impl $Row {
            /// The table of these rows; `names` gives the names of a column of categories.
            pub fn columns(
                rows: impl IntoIterator<Item = $Row>,
                names: impl Fn(&str) -> Vec<String>,
            ) -> Vec<Column> {
                let rows = rows.into_iter();
                let mut table = Table(<$Row as Record>::columns(rows.size_hint().0));
                rows.for_each(|row| table.push(row));
                table.columns(names)
            }
        }
    };
}

table! {
    /// A row of `flows`: one for each flow that started.
    FlowRow of FLOWS:
    flow: u64 "" "number of the flow, in the order of the starts";
    class: Category "" "traffic class";
    size_bytes: f64 "B" "how much the flow has to send; empty: without end";
    start_s: f64 "s" "first SYN sent, or first packet of UDP";
    admitted_s: f64 "s" "the opening packet that got through passed the last gated port of its path, else reached the receiver";
    data_done_s: f64 "s" "last byte delivered in order";
    closed_s: f64 "s" "acknowledgement of the FIN received; of UDP: everything was sent, and of a flow of a size the last packet that gets through was delivered";
    gave_up_s: f64 "s" "the user or the transport gave up, or the session was refused by a reset";
    fct_s: f64 "s" "flow completion time: start to close (of a receiver with `optimistic-acks` that may be before all has arrived); empty also for UDP of which data was lost or is under way at the end, and for connections of users who load pages, whose times are in `pages` and `objects`";
    fct_admitted_s: f64 "s" "admission to close";
    goodput_bps: f64 "bit/s" "bits delivered over flow completion time";
    syn_tries: u32 "packets" "opening packets sent, retries included";
    retransmitted_packets: u64 "packets" "data packets sent again";
    timeouts: u32 "" "expiries of the retransmission timer, those of the SYN not counted";
    sent_packets: u64 "packets" "data packets sent, retransmissions included";
    delivered_bytes: u64 "B" "bytes delivered in order so far";
}

table! {
    /// A row of `flow_window`: one for each flow, in the order of `flows`.
    FlowWindowRow of FLOW_WINDOW:
    reached_s: f64 "s" "the opening packet that got through reached the receiver, or the client of an upload that a gate admits by its SYN+ACK; of UDP: first packet sent";
    window_bytes: u64 "B" "delivered in order after the warm-up";
}

table! {
    /// A row of `rtt`: one for each class, about the round trips that its senders measured after
    /// the warm-up.
    RttRow of RTT:
    class: Category "" "traffic class";
    rtt_min_s: f64 "s" "shortest round trip; empty: none was measured";
    rtt_mean_s: f64 "s" "mean";
    rtt_p50_s: f64 "s" "median, to 1 %";
    rtt_p95_s: f64 "s" "percentile 95, to 1 %";
    rtt_p99_s: f64 "s" "percentile 99, to 1 %";
}

table! {
    /// A row of `class_rates`: one for each class and sampling interval of ports.
    ClassRateRow of CLASS_RATES:
    time_s: f64 "s" "end of the interval";
    class: Category "" "traffic class";
    arrived_bps: f64 "bit/s" "data packets that reached their receivers over the interval, headers and repeated ones included";
}

table! {
    /// A row of `queues`: one for each port that is no access link, about its queue at regular
    /// instants after the warm-up, the packet in transmission not counted.
    QueueRow of QUEUES:
    port: Category "" "port";
    queue_p95_packets: f64 "packets" "percentile 95 of the packets that wait";
    queue_p99_packets: f64 "packets" "percentile 99";
    queue_delay_mean_s: f64 "s" "mean delay of the queue: the bytes that wait, over the capacity, as CAKE's shaper counts them where that is slower than the link; without the instants at which the capacity is 0";
    queue_delay_p95_s: f64 "s" "percentile 95 of it";
    queue_delay_p99_s: f64 "s" "percentile 99 of it";
}

table! {
    /// A row of `ports`: one for each sampled port and interval.
    PortRow of PORTS:
    time_s: f64 "s" "end of the interval";
    port: Category "" "port";
    capacity_bps: u64 "bit/s" "capacity at the end of the interval: of the link, or of CAKE's shaper where that is slower; 0 in an outage, where a trace is 0";
    syn_arrived: u64 "packets" "opening packets that arrived";
    syn_refused: u64 "packets" "of these, dropped or rejected by the gate";
    syn_dropped: u64 "packets" "opening packets lost here for whatever reason: refused, dropped by the queue, or lost on the link";
    data_arrived: u64 "packets" "data packets that arrived";
    data_dropped: u64 "packets" "of these, dropped here or lost on the link, for whatever reason";
    arrived_packets: u64 "packets" "packets that arrived";
    departed_packets: u64 "packets" "packets whose transmission started";
    departed_bytes: u64 "B" "bytes of these, headers included";
    possible_bytes: u64 "B" "bytes that the link could have carried by its trace; only where a capacity of the scenario follows one (0 at a port whose link never varies)";
    drops_queue_full: u64 "packets" "dropped because the queue was full";
    drops_early: u64 "packets" "dropped by the queue's law before it was full, on arrival or when it was their turn";
    drops_session_refused: u64 "packets" "dropped or rejected because the gate refused the session";
    drops_evicted: u64 "packets" "taken out of the queue to make room for another packet";
    drops_custom: u64 "packets" "dropped by a law of the user's own";
    drops_link_loss: u64 "packets" "lost on the link, after their transmission";
    drops_connection: u64 "packets" "connection packets (SYN, SYN+ACK) that `dqm` dropped because of the waiting data";
    drops_filtered: u64 "packets" "taken out by a filter against their origin; only where a port of the scenario has a filter";
    drops_policed: u64 "packets" "dropped by a policer; only where a port of the scenario has one";
    drops_expired: u64 "packets" "dropped because they were older than the port's `lifetime`; only where a port of the scenario has one";
    damaged_packets: u64 "packets" "damaged on the link, after their transmission: their receivers refuse them; only where a port of the scenario has `corrupt`";
    copied_packets: u64 "packets" "delivered twice by the link; only where a port of the scenario has `duplicate`";
    marked: u64 "packets" "marked as having met congestion, instead of dropped";
    queue_packets: u64 "packets" "packets waiting at the end of the interval, the one in transmission not counted";
    queue_bytes: u64 "B" "bytes of these";
    queue_mean_packets: f64 "packets" "packets waiting, averaged over the interval's time";
    avg_queue_packets: f64 "packets" "the average queue that the queue's law goes by, at the end of the interval; empty: it keeps none";
    utilisation: f64 "1" "share of the interval in which the link was transmitting, never while its capacity is 0; or that which the packets sent take at CAKE's shaper, if that is more";
}

/// A row of `port_totals`: one for each port, access links included, whose
/// interval is the time after the warm-up.
pub const PORT_TOTALS: &[Heading] = PORTS;

table! {
    /// A row of `events`: one for each decision of a law.
    EventRow of EVENTS:
    time_s: f64 "s" "end of the epoch";
    port: Category "" "port";
    law: Category "" "the law that decided";
    phase: Category "" "the phase that the law is in now";
    set: f64 "" "what it set: for a session law, sessions allowed per epoch, infinite: all; for a rate law, the rate in bit/s (xcp: the change of it that all flows should make; vcp: the code of the load); for pie, the share of packets to drop; for a filter, the node whose packets it takes out, by its place in the network, from 0; empty: none";
    from: f64 "" "what it set it from: for a session law, (smoothed) completions per epoch, occupancy or loss rate; for a rate law, the number of flows (xcp: the control interval in seconds; vcp: the load); for pie, the queue's delay in seconds; for a filter, the waiting packets of that node, or of all where none is greedy, or 0 where a neighbour asked";
    arrived: u64 "sessions" "opening packets that arrived in the epoch";
    admitted: u64 "sessions" "of these, let through";
    departed: u64 "sessions" "sessions that ended in the epoch";
}

table! {
    /// A row of `arrivals`: one for each packet that came to a port whose arrivals are recorded.
    ArrivalRow of ARRIVALS:
    time_s: f64 "s" "when it came";
    port: Category "" "port";
    origin: Category "" "the node that sent it";
    number: u32 "" "its place in its flow, in packets, from 0";
    queue_packets: u32 "packets" "packets that it found waiting, the one in transmission not counted";
    avg_queue_packets: f64 "packets" "the average queue of the queue's law, or of the filter, after it; empty: neither keeps one";
    fate: Category "" "`queued`, or the reason why the port lost it";
}

table! {
    /// A row of `flow_series`: one for each flow that `series` follows and interval, from its
    /// first packet to its end.
    FlowSeriesRow of FLOW_SERIES:
    time_s: f64 "s" "end of the interval";
    flow: u64 "" "number of the flow, as in `flows`";
    class: Category "" "traffic class";
    number: u32 "" "its place in its class, from 0";
    cwnd_packets: f64 "packets" "congestion window, in segments; empty: UDP has none";
    srtt_s: f64 "s" "smoothed round-trip time of its sender; empty: not measured yet, or UDP";
    flight_packets: f64 "packets" "segments sent and not acknowledged, as its sender counts them; empty: UDP does not";
    rate_bps: f64 "bit/s" "payload delivered in order over the interval";
}

table! {
    /// A row of `class_series`: one for each class that `series` follows and interval.
    ClassSeriesRow of CLASS_SERIES:
    time_s: f64 "s" "end of the interval";
    class: Category "" "traffic class";
    open_flows: u32 "flows" "flows admitted and not over at the end of the interval; UDP is over when everything was sent";
    rate_bps: f64 "bit/s" "payload delivered in order over the interval, of all flows";
}

table! {
    /// A row of `queue_series`: one for each port that is no access link, class that `series`
    /// follows and interval.
    QueueSeriesRow of QUEUE_SERIES:
    time_s: f64 "s" "end of the interval";
    port: Category "" "port";
    class: Category "" "traffic class";
    queue_packets: u32 "packets" "packets of its open flows that wait, the one in transmission not counted";
    queue_bytes: u64 "B" "bytes of these";
}

table! {
    /// A row of `acks`: one for each acknowledgement that reaches the sender of a flow in
    /// `series.acks`, and for each expiry of its retransmission timer.
    AckRow of ACKS:
    time_s: f64 "s" "when it came";
    flow: u64 "" "number of the flow, as in `flows`";
    class: Category "" "traffic class";
    number: u32 "" "its place in its class, from 0";
    cause: Category "" "`ack`: an acknowledgement has come; `timeout`: the retransmission timer has expired";
    cwnd_packets: f64 "packets" "congestion window after it, in segments";
    ssthresh_packets: f64 "packets" "slow-start threshold after it, in segments; empty: no loss has set it yet, or the control has none";
    srtt_s: f64 "s" "smoothed round-trip time after it; empty: not measured yet";
    flight_bytes: u64 "B" "bytes in flight after what it let the sender send: sent and not acknowledged";
    acked_bytes: u64 "B" "bytes acknowledged in order so far";
    retransmitted_packets: u64 "packets" "data packets sent again so far";
}

table! {
    /// A row of `udp`: one for each class of UDP, about the packets sent after the warm-up.
    UdpRow of UDP:
    class: Category "" "traffic class";
    sent_packets: u64 "packets" "packets sent after the warm-up";
    received_packets: u64 "packets" "of these, packets that reached their receiver";
    lost_packets: u64 "packets" "of these, packets that never will: neither received nor under way at the end";
    delay_min_s: f64 "s" "shortest delay from sender to receiver; of media from the encoder, so with the wait at the sender";
    delay_mean_s: f64 "s" "mean delay";
    delay_p50_s: f64 "s" "median delay, to 0.1 %";
    delay_p95_s: f64 "s" "percentile 95 of the delay, to 0.1 %";
    delay_p99_s: f64 "s" "percentile 99 of the delay, to 0.1 %";
    delay_max_s: f64 "s" "longest delay";
    jitter_s: f64 "s" "interarrival jitter of RFC 3550, section 6.4.1, of each flow, averaged over the packets received";
}

table! {
    /// A row of `video`: one for each viewer, as things stand when the viewer leaves or the run ends.
    VideoRow of VIDEO:
    flow: u64 "" "number of the flow, as in `flows`";
    class: Category "" "traffic class";
    startup_s: f64 "s" "start-up delay: from the first SYN to the first picture; empty: playback never began";
    stalls: u32 "" "how often the buffer ran dry before the film was over";
    stalled_s: f64 "s" "how long playback stood still for that";
    played_s: f64 "s" "playing time that was shown";
    segments: u32 "" "segments that have come";
    rate_mean_bps: f64 "bit/s" "mean rate of these; empty: none has come";
    switches: u32 "" "requests at another rate than the one before";
}

table! {
    /// A row of `pages`: one for each page that a user started to load.
    PageRow of PAGES:
    page: u64 "" "number of the page, in the order of the starts";
    class: Category "" "traffic class";
    user: u64 "" "the user's place in the class, from 0";
    number: u32 "" "the page's place among those of its user, from 0";
    objects: u32 "" "objects of the page, its document included";
    size_bytes: u64 "B" "bytes of these";
    connections: u32 "" "connections that were opened for it";
    start_s: f64 "s" "when the user asked for it";
    document_s: f64 "s" "its document has come; empty: not yet, or it has none";
    loaded_s: f64 "s" "all its objects have come";
    gave_up_s: f64 "s" "the user's patience was over, or the last of its connections was refused or gave up";
    load_time_s: f64 "s" "page load time: from the start to the last object";
}

table! {
    /// A row of `objects`: one for each object of a page.
    ObjectRow of OBJECTS:
    page: u64 "" "number of its page, as in `pages`; the document comes first";
    flow: f64 "" "number of its connection, as in `flows`; empty: not asked for";
    size_bytes: u64 "B" "its size";
    known_s: f64 "s" "the user knew that the page needs it: at the start of the page, or once its document had come";
    asked_s: f64 "s" "its request was sent, for the last time where a connection was lost";
    first_byte_s: f64 "s" "its first bytes have come";
    done_s: f64 "s" "all of it has come";
    time_s: f64 "s" "from `known_s` to `done_s`";
}

/// Every table with its columns.
pub const TABLES: [(&str, &[Heading]); 17] = [
    ("flows", FLOWS),
    ("flow_window", FLOW_WINDOW),
    ("rtt", RTT),
    ("class_rates", CLASS_RATES),
    ("queues", QUEUES),
    ("ports", PORTS),
    ("events", EVENTS),
    ("arrivals", ARRIVALS),
    ("flow_series", FLOW_SERIES),
    ("class_series", CLASS_SERIES),
    ("queue_series", QUEUE_SERIES),
    ("acks", ACKS),
    ("udp", UDP),
    ("video", VIDEO),
    ("pages", PAGES),
    ("objects", OBJECTS),
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
