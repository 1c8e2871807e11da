//! The departure rate of a queue, measured while enough bytes wait (RFC 8033, 5.2).
//!
//! 1. A measurement begins with a departure that leaves `DQ_THRESHOLD` bytes behind.
//! 2. It ends with the departure by which `DQ_THRESHOLD` bytes have been sent.
//! 3. Its duration updates the average `avg_dq_time` with weight `DQ_THRESHOLD / 2^16`.

use crate::units::Time;

/// The measured departure rate (5.2).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DepartureRate {
    /// Start of the current measurement, and bytes sent since.
    measuring: Option<(Time, u64)>,
    /// Time to send `DQ_THRESHOLD` bytes, in seconds; 0: not measured yet.
    avg_dq_time: f64,
}

impl DepartureRate {
    /// A packet of `size` bytes was sent, and `left` bytes remain.
    pub fn depart(&mut self, now: Time, size: u64, left: u64, dq_threshold: u64) {
        if let Some((start, sent)) = self.measuring {
            let sent = sent + size;
            self.measuring = Some((start, sent));
            if sent >= dq_threshold {
                let dq_time = (now - start).secs();
                let weight =
                    if self.avg_dq_time == 0.0 { 1.0 } else { dq_threshold as f64 / 65_536.0 };
                self.avg_dq_time += weight * (dq_time - self.avg_dq_time);
                self.measuring = None;
            }
        }
        if self.measuring.is_none() && left >= dq_threshold {
            self.measuring = Some((now, 0));
        }
    }

    /// Abandons the current measurement (5.3).
    pub fn interrupt(&mut self) {
        self.measuring = None;
    }

    /// Time to send this many bytes (4.3).
    pub fn qdelay(&self, bytes: u64, dq_threshold: u64) -> Time {
        Time::from_secs_f64(bytes as f64 * self.avg_dq_time / dq_threshold as f64)
    }
}
