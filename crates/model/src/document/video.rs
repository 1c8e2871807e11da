//! Video of a class, as it is written.

use tidegate_core::law::video::Rule;
use tidegate_core::units::{Rate, Time};
use tidegate_core::{keys, stage};

keys! {
    /// Viewers who watch video: each fetches segment after segment over one connection.
    #[serde(
        deny_unknown_fields,
        expecting = "a table, as in { ladder = [\"1Mbit\", \"2.5Mbit\", \"5Mbit\"] }"
    )]
    pub(crate) struct VideoDoc {
        /// The rates at which the video is offered, rising; 1 to 50 rates from 1kbit to 10Gbit.
        pub ladder: Vec<Rate>,
        /// Playing time of a segment; default 4s.
        #[serde(default = "four_seconds")]
        pub segment: Time ["100ms" to "60s"],
        /// The most playing time that the player keeps; default 30s, from two segments up to 1h.
        #[serde(default = "half_a_minute")]
        pub buffer: Time,
        /// Playing time in the buffer at which playback begins, at first and after a stall; default one segment, up to the buffer less a segment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub start: Option<Time>,
        /// Playing time of the film, rounded up to whole segments; default: longer than the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub length: Option<Time>,
        /// How the player chooses rates; default bba.
        #[serde(default, skip_serializing_if = "RuleDoc::is_open")]
        pub rule: RuleDoc,
    }
}

fn four_seconds() -> Time {
    Time::from_secs(4)
}

fn half_a_minute() -> Time {
    Time::from_secs(30)
}

stage! {
    /// How the player chooses rates: `{ law = "throughput", safety = 0.9 }`.
    #[serde(deny_unknown_fields, expecting = "a table, as in { law = \"bba\" }")]
    pub(crate) struct RuleDoc(Rule) of Rule =
        "VideoRule", "How a player of video chooses rates.";
}

impl RuleDoc {
    /// Whether it is the default rule with its default settings, which is not written out.
    fn is_open(&self) -> bool {
        self.law == Rule::default()
    }
}
