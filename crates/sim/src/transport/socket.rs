//! What the socket of a sender takes of its application, as in Linux: `send_buffer` windows, the
//! largest so far, of what is not acknowledged (`tcp_sndbuf_expand`), and the segment that fills it.
//! The application closes the socket when it has taken all.

use tidegate_core::units::Time;

/// How long a process takes to run that an acknowledgement wakes: those that arrive together are
/// all taken before it writes. Chosen after a capture between real hosts, in which it wrote 0.15 ms
/// after the acknowledgement that made room for the rest.
pub(super) const WAKES: Time = Time::from_ns(100_000);

#[derive(Debug)]
pub(super) struct Socket {
    /// When the application closes it.
    closed: Time,
    /// The largest window so far, in segments.
    widest: u32,
}

impl Socket {
    pub(super) const NEW: Socket = Socket { closed: Time::NEVER, widest: 0 };

    /// The application writes at this time. The socket takes `windows`; of `left` segments that are
    /// not acknowledged it has taken the last one then, or not yet.
    pub(super) fn take(&mut self, windows: u8, window: u32, left: u32, at: Time) {
        self.widest = self.widest.max(window);
        let takes = u32::from(windows).saturating_mul(self.widest).saturating_add(1);
        if self.closed == Time::NEVER && takes >= left {
            self.closed = at;
        }
    }

    /// The application closes it now.
    pub(super) fn close(&mut self, now: Time) {
        self.closed = now;
    }

    /// Whether it was closed before.
    pub(super) fn is_closed(&self, now: Time) -> bool {
        self.closed < now
    }
}
