//! What a link does to packets besides carrying them, as it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::keys;
use tidegate_core::units::{Rate, Size, Time};

use crate::scenario::Order;

keys! {
    /// The capacity of a link over time, from a file.
    #[serde(deny_unknown_fields, expecting = "a table, as in { trace = \"lte.trace\" }")]
    pub(crate) struct PortRateDoc {
        /// A file relative to the scenario's folder. Either each line is the time of an opportunity to deliver 1504 bytes, in whole milliseconds, as mahimahi has it; or a table (CSV) of `time_s` and `rate_bit_s`.
        pub trace: String,
        /// Where in the trace the run begins; default 0s.
        #[serde(default)]
        pub start: Time,
        /// Whether the trace begins again at its last time; default true. Else the last rate holds, and after the last opportunity nothing is delivered.
        #[serde(default = "yes")]
        pub repeat: bool,
        /// For a table: rates are multiplied by this; default 1.
        #[serde(default = "one")]
        pub scale: f64 [above 0 to 1e6],
    }
}

/// The delay of a link over time, from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table, as in { trace = \"starlink.csv\" }")]
pub(crate) struct PortDelayDoc {
    /// A file relative to the scenario's folder: a table (CSV) of `time_s` and `delay_s`. It may be the one of the capacity.
    pub trace: String,
    /// Where in the trace the run begins; default 0s.
    #[serde(default)]
    pub start: Time,
    /// Whether the trace begins again at its last time; default true. Else the last delay holds.
    #[serde(default = "yes")]
    pub repeat: bool,
    /// Whether a packet waits for those sent before it when the delay falls: kept (it does, the default) or free (it may overtake them, as on another path).
    #[serde(default)]
    pub order: Order,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

/// How the delay differs from packet to packet: exactly one of uniform and normal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table, as in { uniform = \"5ms\" }")]
pub(crate) struct JitterDoc {
    /// Each delay is drawn evenly, from so much below the link's delay to so much above it; at most that delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Time>,
    /// Each delay is drawn from a normal distribution around the link's delay with this standard deviation; a draw below 0 is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<Time>,
    /// Whether a packet waits for those sent before it: kept (it does, the default) or free (it may overtake them).
    pub order: Order,
}

keys! {
    /// When the link delivers, where it gathers packets first.
    #[serde(deny_unknown_fields, expecting = "a table, as in { every = \"4ms\", packets = 32 }")]
    pub(crate) struct BatchDoc {
        /// What was sent sets out together at multiples of this time.
        pub every: Time [above "0s" to "1h"],
        /// Or as soon as so many packets were sent; default: without limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub packets: Option<u32> [1 to 1000000],
    }
}

keys! {
    /// A bucket of tokens, one a byte: a packet that finds too few of them is dropped.
    #[serde(deny_unknown_fields, expecting = "a table, as in { rate = \"5Mbit\", burst = \"15kB\" }")]
    pub(crate) struct PoliceDoc {
        /// How fast tokens come.
        pub rate: Rate ["1kbit" to "1Tbit"],
        /// What the bucket holds, and has at first.
        pub burst: Size ["1500B" to "1000GB"],
    }
}
