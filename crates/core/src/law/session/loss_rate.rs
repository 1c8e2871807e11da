//! Admission by loss rate (session-control, II): a baseline that the paper argues against.
//!
//! | symbol  | here        | unit | paper    |
//! |---------|-------------|------|----------|
//! | `E`     | `epoch`     | s    | no value |
//! | `p_0`   | `threshold` | 1    | no value |
//! | `beta`  | `beta`      | 1    | no value |
//! | `p`     | `loss`      | 1    | measured |
//!
//! At the end of an epoch: smooth the share of the packets offered to the queue that it dropped.
//! While that is below the threshold every new session is admitted, otherwise none. Refused
//! sessions are not losses, and their packets are not offered to the queue.
//!
//! Limits: losses show an overload only once the buffer is full, at least a round trip after it
//! began. One threshold suits one load and one buffer: a few long transfers fill a buffer as well
//! as many short ones.

use crate::law::{Controller, Fault, Turn, View};
use crate::units::Time;

use super::threshold::{AllOrNothing, all_or_nothing};
use super::{Counts, Knobs, Limiter};

all_or_nothing! {
    /// Admission by loss rate.
    LossRate, "LossRate",
    0.01 "Sessions are admitted while the queue drops a smaller share of its packets",
    "Weight of the newest epoch in the smoothed loss rate, 1: no smoothing",
    |view, _epoch| view.lost()
}
