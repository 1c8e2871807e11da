//! What a link does to packets besides carrying them, as it is written.

use tidegate_core::keys;
use tidegate_core::units::{Rate, Size, Time};

use crate::scenario::PacketOrder;

keys! {
    /// The capacity of a link over time, from a file.
    "PortRateDoc" as pub(crate) PortRateDoc = "a table, as in { trace = \"lte.trace\" }":
    trace: String = required "A file relative to the scenario's folder" + "Either each line is the time of an opportunity to deliver 1504 bytes, in whole milliseconds, as mahimahi has it; or a table (CSV) of `time_s` and `rate_bit_s`.";
    start: Time = "0s" "Where in the trace the run begins";
    repeat: bool = true "Whether the trace begins again at its last time" + "Then the rate of a table's last row never holds; else it holds on, and after the last opportunity nothing is delivered.";
    scale: f64 = 1 [above 0 to 1e6] "For a table: rates are multiplied by this";
}

keys! {
    /// The delay of a link over time, from a file.
    "PortDelayDoc" as pub(crate) PortDelayDoc = "a table, as in { trace = \"starlink.csv\" }":
    trace: String = required "A file relative to the scenario's folder: a table (CSV) of `time_s` and `delay_s`" + "It may be the one of the capacity.";
    start: Time = "0s" "Where in the trace the run begins";
    repeat: bool = true "Whether the trace begins again at its last time" + "Then the delay of the last row never holds; else it holds on.";
    order: PacketOrder = { PacketOrder::default() } "Whether a packet waits for those sent before it when the delay falls: kept (it does, the default) or free (it may overtake them, as on another path)";
}

keys! {
    /// How the delay differs from packet to packet: exactly one of uniform and normal.
    "JitterDoc" as pub(crate) JitterDoc = "a table, as in { uniform = \"5ms\" }":
    uniform: Option<Time> = none [above "0s" to "1h"] "Each delay is drawn evenly, from so much below the link's delay to so much above it; at most that delay";
    normal: Option<Time> = none [above "0s" to "1h"] "Each delay is drawn from a normal distribution around the link's delay with this standard deviation; a draw below 0 is 0";
    order: PacketOrder = { PacketOrder::default() } "Whether a packet waits for those sent before it: kept (it does, the default) or free (it may overtake them)";
}

keys! {
    /// When the link delivers, where it gathers packets first.
    "BatchDoc" as pub(crate) BatchDoc = "a table, as in { every = \"4ms\", packets = 32 }":
    every: Time = required [above "0s" to "1h"] "What was sent sets out together at multiples of this time";
    packets: Option<u32> = none [1 to 1000000] "Or as soon as so many packets were sent; default: without limit";
}

keys! {
    /// A bucket of tokens, one a byte: a packet that finds too few of them is dropped.
    "PoliceDoc" as pub(crate) PoliceDoc = "a table, as in { rate = \"5Mbit\", burst = \"15kB\" }":
    rate: Rate = required ["1kbit" to "1Tbit"] "How fast tokens come";
    burst: Size = required ["1500B" to "1000GB"] "What the bucket holds, and has at first";
}
