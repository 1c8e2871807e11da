//! A congestion control of one's own, as a transport stack would have it: Reno (RFC 5681). It
//! knows nothing of who calls it, a stack, a simulator or a judge.

#[cfg(feature = "python")]
mod python;

/// The window of one connection, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mine {
    /// Segments that may be in flight.
    pub cwnd: f64,
    /// Where slow start ends.
    pub ssthresh: f64,
}

impl Mine {
    /// A new connection.
    pub fn new(initial_window: u32) -> Mine {
        Mine { cwnd: f64::from(initial_window), ssthresh: f64::INFINITY }
    }

    /// So many segments are acknowledged, out of recovery (3.1): twice the window in a round trip,
    /// and from the threshold on a segment more.
    pub fn acknowledged(&mut self, segments: u32) {
        let segments = f64::from(segments);
        self.cwnd += if self.cwnd < self.ssthresh { segments } else { segments / self.cwnd };
    }

    /// A loss, or a mark in its place: half the window (3.2).
    pub fn congested(&mut self) {
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = self.ssthresh;
    }

    /// The retransmission timer expired, `again` for the same segment: one segment (3.1).
    pub fn timed_out(&mut self, again: bool) {
        if !again {
            self.ssthresh = (self.cwnd / 2.0).max(2.0);
        }
        self.cwnd = 1.0;
    }
}
