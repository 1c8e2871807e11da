//! The receive window that Linux offers, and how it grows.
//!
//! | symbol (Linux)      | here        | unit     | meaning                                              |
//! |---------------------|-------------|----------|------------------------------------------------------|
//! | `rcv_ssthresh`      | `threshold` | bytes    | what is offered where the buffer has room for it      |
//! | `sk_rcvbuf`         | `buffer`    | bytes    | the receive buffer, `tcp_rmem[1]` at first            |
//! | `rcvq_space.space`  | `read`      | bytes    | the most that was read in a round trip                |
//! | `rcvq_space.seq`    | `from`      | segments | what had been read when the present round trip began  |
//! | `rcvq_space.time`   | `since`     | s        | when it began                                         |
//! | `rcv_rtt_est`       | `rtt`       | s        | the round trip as the receiver sees it                |
//! | `scaling_ratio`     | `ratio`     | 1/256    | the part of a buffer that is data, not its overhead   |
//!
//! 1. At first half of the buffer is offered, in whole segments.
//! 2. Each segment lets the threshold grow by two segments, as far as the buffer has room, and is
//!    acknowledged at once then (`tcp_grow_window`).
//! 3. The application reads at once. Once a round trip, if it has read more than in any before, the
//!    buffer grows. It has room then for twice as much, and for 4 c (c - r) / r more, where `c` was read
//!    in this round trip and `r` in that with the most before (`tcp_rcv_space_adjust`,
//!    `tcp_rcvbuf_grow`).
//! 4. What has come beyond a hole takes room. The buffer has room for all from the hole on as well.
//! 5. What has been offered stays so (RFC 9293, 3.8.6).
//!
//! Departures:
//! - A segment takes a buffer of 2 KiB, or the next larger power of two, and 256 bytes for its
//!   descriptor, as with most drivers.
//! - The round trip is the way of the segment to here, and the shorter of the two ways of the
//!   handshake. Linux has the time since what the segment echoes, in whole milliseconds.
//! - An acknowledgement that travels with data does not tell of the window, and its sender takes it to
//!   be as large as before.
//! - At round trips of less than a millisecond the buffers of Linux 7.2 grow less
//!   (net.ipv4.tcp_rcvbuf_low_rtt).

use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;

/// What one receiver offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    threshold: u32,
    buffer: u32,
    read: u32,
    from: u32,
    since: Time,
    /// Zero: not measured.
    rtt: Time,
    /// How long an acknowledgement takes.
    back: Time,
    /// When the last segment left by which the round trip was measured.
    timed: Time,
    /// Segments that are offered while nothing waits.
    window: u32,
    /// Behind the last segment that was offered.
    edge: u32,
}

/// How much of a receive buffer segments of a class take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    mss: u32,
    /// The receive buffer at first, and the largest, in bytes.
    buffer: u32,
    limit: u32,
    /// What a segment takes, with its overhead, in bytes.
    whole: u32,
    ratio: u32,
    /// The window is told of in this unit, in bytes (window scale).
    unit: u32,
}

impl Memory {
    /// For segments of these connections; none: their receivers offer all from the start.
    pub(crate) fn of(tcp: &Tcp) -> Option<Memory> {
        if tcp.receive_buffer == 0 {
            return None;
        }
        let limit = tcp.receive_buffer_limit.max(tcp.receive_buffer);
        let whole = (tcp.mss + tcp.header).next_power_of_two().max(2048) + 256;
        let ratio = (tcp.mss * 256 / whole).max(1);
        let unit = 1 << limit.ilog2().saturating_sub(15).min(14);
        Some(Memory { mss: tcp.mss, buffer: tcp.receive_buffer, limit, whole, ratio, unit })
    }

    /// What is offered at first, in bytes.
    fn threshold(&self) -> u32 {
        let half = self.buffer / 2;
        if half > self.mss { half - half % self.mss } else { half }
    }

    /// Segments offered at first. The window of a SYN has no scale (RFC 7323, 2.2).
    pub(crate) fn first(&self) -> u32 {
        (self.threshold().min(u16::MAX.into()) / self.mss).max(1)
    }

    /// The window scale (RFC 7323, 2.2).
    pub(crate) fn scale(&self) -> u8 {
        self.unit.ilog2() as u8
    }

    /// What of a buffer can be offered.
    #[inline]
    fn window(&self, buffer: u32) -> u32 {
        (u64::from(buffer) * u64::from(self.ratio) / 256) as u32
    }

    /// What can be offered of a buffer in which so many segments wait.
    #[inline]
    fn free(&self, buffer: u32, waiting: u32) -> u32 {
        let taken = u64::from(waiting) * u64::from(self.whole);
        self.window(buffer.saturating_sub(taken.try_into().unwrap_or(u32::MAX)))
    }

    /// Whole segments of a window in bytes, as told of in its unit; at least one.
    #[inline]
    fn segments(&self, bytes: u32) -> u32 {
        (bytes.div_ceil(self.unit) * self.unit / self.mss).max(1)
    }
}

impl Offer {
    /// Of a connection that is not open yet.
    pub(super) fn new(memory: &Memory) -> Offer {
        let threshold = memory.threshold();
        Offer {
            threshold,
            buffer: memory.buffer,
            // the initial window of RFC 6928 (TCP_INIT_CWND)
            read: threshold.min(10 * memory.mss),
            from: 0,
            since: Time::ZERO,
            rtt: Time::ZERO,
            back: Time::ZERO,
            timed: Time::NEVER,
            window: memory.segments(threshold.min(memory.window(memory.buffer))),
            edge: memory.first(),
        }
    }

    /// The handshake is complete: it took so long from this end, and its last packet so long to here.
    pub(super) fn open(&mut self, now: Time, round: Time, here: Time) {
        self.since = now;
        // a SYN may have waited where connections are admitted
        self.back = here.min(round.saturating_sub(here));
    }

    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        for number in [&mut self.from, &mut self.edge] {
            *number = number.saturating_sub(lap);
        }
    }

    /// A segment measures the round trip, if it is the first of those that left at one instant.
    #[inline]
    pub(super) fn time(&mut self, now: Time, sent: Time) {
        if sent == self.timed {
            return;
        }
        self.timed = sent;
        let sample = now.saturating_sub(sent) + self.back;
        self.rtt = if self.rtt == Time::ZERO || sample < self.rtt {
            sample
        } else {
            self.rtt + (sample - self.rtt) / 8
        };
    }

    /// A segment lets the threshold grow, beside so many in the buffer; whether it does.
    #[inline]
    pub(super) fn grow(&mut self, waiting: u32, memory: &Memory) -> bool {
        let room = memory.free(self.buffer, waiting).saturating_sub(self.threshold);
        if room == 0 {
            return false;
        }
        self.threshold += room.min(2 * memory.mss);
        self.count(memory);
        true
    }

    /// Whether a round trip is over since the buffer was looked at.
    #[inline]
    pub(super) fn is_round_over(&self, now: Time) -> bool {
        now.saturating_sub(self.since) >= self.rtt && self.rtt != Time::ZERO
    }

    /// A round trip is over, and all before `next` is read. `span`: segments from there to behind the
    /// last one that has come.
    pub(super) fn adjust(&mut self, now: Time, next: u32, span: u32, memory: &Memory) {
        let copied = (next - self.from).saturating_mul(memory.mss);
        if copied > self.read {
            self.enlarge(copied, span, memory);
        }
        (self.from, self.since) = (next, now);
    }

    /// The buffer grows for so many bytes in a round trip.
    fn enlarge(&mut self, copied: u32, span: u32, memory: &Memory) {
        let (copied, before) = (u64::from(copied), u64::from(self.read.max(1)));
        self.read = copied as u32;
        let more = (4 * copied).saturating_mul(copied.saturating_sub(before)) / before;
        let beyond = u64::from(span) * u64::from(memory.mss);
        let window = more.saturating_add(2 * copied + beyond);
        let buffer = window.saturating_mul(256) / u64::from(memory.ratio);
        self.buffer = self.buffer.max(buffer.min(u64::from(memory.limit)) as u32);
        self.count(memory);
    }

    /// The buffer gets room for so many segments from a hole on.
    #[inline]
    pub(super) fn make_room(&mut self, span: u32, memory: &Memory) {
        self.enlarge(self.read, span, memory);
    }

    /// Segments that are offered while nothing waits.
    #[inline]
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// The same, counted anew.
    fn count(&mut self, memory: &Memory) {
        self.window = memory.segments(self.threshold.min(memory.window(self.buffer)));
    }

    /// Segments offered behind `next`, with so many waiting beyond a hole.
    #[inline]
    pub(super) fn offer(&mut self, next: u32, waiting: u32, memory: &Memory) -> u32 {
        let window = if waiting == 0 {
            self.window
        } else {
            memory.segments(self.threshold.min(memory.free(self.buffer, waiting)))
        };
        self.edge = self.edge.max(next + window);
        self.edge - next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::draws;
    use tidegate_model::profile::Profile;

    /// RFC 9293, 3.8.6: what has been offered is not taken back. Here at least one segment is offered
    /// always, so that no probe of a closed window is needed; and never more than the largest buffer
    /// has room for, in whole units of the window scale. For buffers from a byte to a gigabyte and
    /// segments of any size, in any order.
    #[test]
    fn an_offer_stays_and_keeps_within_the_buffer() {
        let mut draws = draws();
        for round in 0..300 {
            let mut tcp = Profile::Linux.tcp();
            tcp.mss = [1, 536, 1448, 9000][round % 4];
            tcp.receive_buffer = 1 << draws(31);
            tcp.receive_buffer_limit = 1 << draws(31);
            let memory = Memory::of(&tcp).unwrap();
            let (mut offer, mut now) = (Offer::new(&memory), Time::from_ms(100));
            let (mut next, mut beyond, mut edge) = (0, 0, memory.first());
            offer.open(now, Time::from_ms(40), Time::from_ms(20));
            let most = memory.segments(memory.window(memory.limit).max(memory.threshold()));
            for _ in 0..400 {
                now += Time::from_ms(draws(4));
                offer.time(now, now.saturating_sub(Time::from_ms(20)));
                let in_order = draws(4) > 0;
                if in_order {
                    (next, beyond) = (next + 1 + beyond, 0);
                } else {
                    beyond += 1;
                }
                offer.grow(beyond + u32::from(in_order), &memory);
                if !in_order {
                    offer.make_room(2 * beyond, &memory);
                } else if offer.is_round_over(now) {
                    offer.adjust(now, next, 0, &memory);
                }
                let window = offer.offer(next, beyond, &memory);
                assert!(window >= 1 && next + window >= edge, "{window} behind {next}, {edge}");
                assert!(next + window <= edge.max(next + most), "{window} of {most}");
                edge = next + window;
            }
        }
    }
}
