//! Video of a class, as it is written.

use tidegate_core::keys;
use tidegate_core::law::video::Rule;
use tidegate_core::units::{Rate, Time};

keys! {
    /// Viewers who watch video: each fetches segment after segment over one connection.
    "VideoDoc" as pub(crate) VideoDoc = "a table, as in { ladder = [\"1Mbit\", \"2.5Mbit\", \"5Mbit\"] }":
    ladder: Vec<Rate> = required ["1kbit" to "10Gbit"] "The rates at which the video is offered, rising; 1 to 50 of them";
    segment: Time = "4s" ["100ms" to "60s"] "Playing time of a segment";
    buffer: Time = "30s" "The most playing time that the player keeps" + "From two segments up to 1h.";
    start: Option<Time> = none [above "0s"] "Playing time in the buffer at which playback begins, at first and after a stall; default one segment, up to the buffer less a segment";
    length: Option<Time> = none [above "0s"] "Playing time of the film, rounded up to whole segments; default: longer than the run";
    rule: Rule = { Rule::default() } quiet "How the player chooses rates; default bba";
}
