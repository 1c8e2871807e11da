//! Admission by link occupancy (session-control, II): a baseline that the paper argues against.
//!
//! | symbol  | here          | unit | paper    |
//! |---------|---------------|------|----------|
//! | `E`     | `epoch`       | s    | no value |
//! | `u_0`   | `threshold`   | 1    | no value |
//! | `beta`  | `beta`        | 1    | no value |
//! | `u`     | `occupancy`   | 1    | measured |
//!
//! At the end of an epoch: smooth the share of time in which the link was sending. While that is
//! below the threshold every new session is admitted, otherwise none.
//!
//! Limits: one threshold suits one load. A link that is busy with sessions that progress well looks
//! like one that is busy with retransmissions. All that arrives in an open epoch is admitted,
//! however much it is.

use crate::law::{Controller, Fault, Turn, View};
use crate::units::Time;

use super::threshold::{AllOrNothing, all_or_nothing};
use super::{Counts, Knobs, Limiter};

all_or_nothing! {
    /// Admission by link occupancy.
    Occupancy, "Occupancy",
    0.9 "Sessions are admitted while the link is busy for a smaller share of the time",
    "Weight of the newest epoch in the smoothed occupancy, 1: no smoothing",
    |view, epoch| view.busy.secs() / epoch.secs()
}
