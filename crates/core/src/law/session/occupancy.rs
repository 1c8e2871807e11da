//! Admission by link occupancy (session-control, II): a baseline that the paper argues against.
//!
//! | symbol  | here          | unit | paper    |
//! |---------|---------------|------|----------|
//! | `E`     | `epoch`       | s    | not said |
//! | `u_0`   | `threshold`   | 1    | not said |
//! | `beta`  | `beta`        | 1    | not said |
//! | `u`     | `occupancy`   | 1    | measured |
//!
//! At the end of an epoch: smooth the share of it in which the link was
//! sending. While that is below the threshold every new session is let in, and
//! else none.
//!
//! Limits: one threshold fits one load. A link that is busy with sessions that
//! get on well looks like one that is busy with retransmissions, and where much
//! arrives in one open epoch all of it is let in.

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
