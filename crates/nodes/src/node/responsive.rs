//! A responsive source: the window of TCP over numbered packets (RFC 5681, RFC 6582 for several
//! losses in a window, RFC 6298 for the timer).
//!
//! | symbol     | here       | unit    | value at the start                              |
//! |------------|------------|---------|-------------------------------------------------|
//! | `cwnd`     | `cwnd`     | packets | 1: as TCP of the paper's time (RFC 2001)        |
//! | `ssthresh` | `ssthresh` | packets | set; 16 and 32 in lgc, 5.1 and 5.2              |
//! | `RTO`      | `rto`      | s       | 1, at least 1, at most 60 (RFC 6298, 2)         |

use tidegate_core::units::Time;

const LEAST_RTO: Time = Time::from_secs(1);
const MOST_RTO: Time = Time::from_secs(60);

/// The sender of a transfer of `packets`, numbered from 1.
#[derive(Debug)]
pub struct Responsive {
    packets: u32,
    /// The first unacknowledged number (SND.UNA).
    first: u32,
    /// The next number to send (SND.NXT).
    next: u32,
    cwnd: f64,
    ssthresh: f64,
    duplicates: u32,
    /// In recovery until this number is acknowledged (RFC 6582).
    recover: Option<u32>,
    srtt: Option<(f64, f64)>,
    rto: Time,
    /// When the timer expires.
    deadline: Time,
    /// The packet whose round trip is timed; never a retransmission (Karn).
    timed: Option<(u32, Time)>,
    /// The highest number sent.
    highest: u32,
}

impl Responsive {
    /// A transfer that has not started.
    pub fn new(packets: u32, ssthresh: f64) -> Responsive {
        Responsive {
            packets,
            first: 1,
            next: 1,
            cwnd: 1.0,
            ssthresh,
            duplicates: 0,
            recover: None,
            srtt: None,
            rto: LEAST_RTO,
            deadline: Time::NEVER,
            timed: None,
            highest: 0,
        }
    }

    /// When the timer expires.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether everything is acknowledged.
    pub fn done(&self) -> bool {
        self.first > self.packets
    }

    /// The window, in packets.
    #[cfg(test)]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn in_flight(&self) -> u32 {
        self.next - self.first
    }

    /// Sends what the window allows.
    pub fn send(&mut self, now: Time, out: &mut Vec<u32>) {
        while self.next <= self.packets && f64::from(self.in_flight() + 1) <= self.cwnd {
            self.transmit(self.next, now, out);
            self.next += 1;
        }
    }

    fn transmit(&mut self, number: u32, now: Time, out: &mut Vec<u32>) {
        if number > self.highest {
            self.highest = number;
            self.timed = self.timed.or(Some((number, now)));
        } else {
            self.timed = None;
        }
        if self.deadline == Time::NEVER {
            self.deadline = now + self.rto; // RFC 6298, 5.1
        }
        out.push(number);
    }

    /// The sink expects `next`: an acknowledgement.
    pub fn acknowledged(&mut self, next: u32, now: Time, out: &mut Vec<u32>) {
        if next > self.first && next <= self.highest + 1 {
            self.advanced(next, now, out);
        } else if next == self.first && self.in_flight() > 0 {
            self.duplicate(now, out);
        }
        self.send(now, out);
    }

    fn advanced(&mut self, next: u32, now: Time, out: &mut Vec<u32>) {
        self.measure(next, now);
        let newly = next - self.first;
        self.first = next;
        self.next = self.next.max(next);
        self.duplicates = 0;
        // RFC 6298, 5.2 and 5.3
        self.deadline = if self.in_flight() == 0 { Time::NEVER } else { now + self.rto };
        match self.recover {
            Some(recover) if next <= recover => {
                // RFC 6582, 3.2, step 3: a partial acknowledgement
                self.transmit(next, now, out);
                self.cwnd = (self.cwnd - f64::from(newly) + 1.0).max(1.0);
            }
            Some(_) => (self.cwnd, self.recover) = (self.ssthresh, None),
            // RFC 5681, 3.1
            None if self.cwnd < self.ssthresh => self.cwnd += 1.0,
            None => self.cwnd += 1.0 / self.cwnd,
        }
    }

    /// RFC 5681, 3.2.
    fn duplicate(&mut self, now: Time, out: &mut Vec<u32>) {
        self.duplicates += 1;
        if self.recover.is_some() {
            self.cwnd += 1.0;
        } else if self.duplicates == 3 {
            self.halve();
            self.recover = Some(self.next - 1);
            self.cwnd = self.ssthresh + 3.0;
            self.transmit(self.first, now, out);
        }
    }

    fn halve(&mut self) {
        self.ssthresh = (f64::from(self.in_flight()) / 2.0).max(2.0); // RFC 5681, eq. 4
    }

    /// The timer has expired (RFC 5681, 3.1; RFC 6298, 5.4 to 5.6): everything in flight is sent
    /// again.
    pub fn expired(&mut self, now: Time, out: &mut Vec<u32>) {
        self.halve();
        self.cwnd = 1.0;
        (self.next, self.recover, self.duplicates, self.timed) = (self.first, None, 0, None);
        self.rto = (self.rto * 2).min(MOST_RTO);
        self.deadline = Time::NEVER;
        self.send(now, out);
    }

    /// RFC 6298, 2.2 and 2.3.
    fn measure(&mut self, next: u32, now: Time) {
        let Some((number, sent)) = self.timed.filter(|(number, _)| *number < next) else { return };
        debug_assert!(number <= self.highest);
        self.timed = None;
        let r = (now - sent).secs();
        let (srtt, rttvar) = match self.srtt {
            None => (r, r / 2.0),
            Some((srtt, var)) => (0.875 * srtt + 0.125 * r, 0.75 * var + 0.25 * (srtt - r).abs()),
        };
        self.srtt = Some((srtt, rttvar));
        let rto = Time::from_secs_f64(srtt + 4.0 * rttvar);
        self.rto = rto.max(LEAST_RTO).min(MOST_RTO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    /// Acknowledges everything that was sent, a round trip of 100 ms later, packet by packet.
    fn round(source: &mut Responsive, sent: &[u32], now: Time) -> Vec<u32> {
        let mut out = Vec::new();
        for number in sent {
            source.acknowledged(number + 1, now, &mut out);
        }
        out
    }

    // RFC 5681, 3.1: the window doubles each round trip up to ssthresh, then grows by about one:
    // 1, 2, 4, 8 packets; with ssthresh 8, nine acknowledgements of 1/cwnd each later just one more.
    #[test]
    fn opens_its_window_as_tcp() {
        let mut source = Responsive::new(1_000, 8.0);
        let mut sent = Vec::new();
        source.send(at(0), &mut sent);
        let mut counts = vec![sent.len()];
        for i in 1..6 {
            sent = round(&mut source, &sent, at(100 * i));
            counts.push(sent.len());
        }
        assert_eq!(counts, [1, 2, 4, 8, 8, 9]);
    }

    // RFC 5681, 3.2: three duplicates send the lost packet again at once, and halve the window.
    #[test]
    fn the_third_duplicate_repairs_and_halves() {
        let mut source = Responsive::new(1_000, 16.0);
        let mut sent = Vec::new();
        source.send(at(0), &mut sent);
        for i in 1..5 {
            sent = round(&mut source, &sent, at(100 * i));
        }
        assert_eq!((sent.len(), sent[0]), (16, 16));
        let mut out = Vec::new();
        for i in 0..3 {
            assert!(out.is_empty());
            source.acknowledged(16, at(500 + i), &mut out);
        }
        assert_eq!(out, [16]);
        out.clear();
        source.acknowledged(32, at(600), &mut out);
        assert_eq!(source.cwnd(), 8.0);
        assert_eq!(out, (32..40).collect::<Vec<_>>());
    }

    // RFC 6298: no round trip measured, so the first timeout is after 1 s, the next after 2 s; all that
    // was out is sent again from the first on, with a window of one.
    #[test]
    fn a_timeout_begins_again_with_one() {
        let mut source = Responsive::new(10, 4.0);
        let mut out = Vec::new();
        source.send(at(0), &mut out);
        assert_eq!(source.deadline(), at(1_000));
        source.expired(at(1_000), &mut out);
        assert_eq!(
            (out.as_slice(), source.cwnd(), source.deadline()),
            (&[1, 1][..], 1.0, at(3_000))
        );
        out.clear();
        source.acknowledged(2, at(3_100), &mut out);
        assert_eq!(out, [2, 3]);
    }

    // Whatever is lost (here a third, by a rule), everything is acknowledged in the end.
    #[test]
    fn gets_everything_across() {
        let mut source = Responsive::new(200, 16.0);
        let (mut got, mut seen, mut out) =
            (crate::node::ranges::Ranges::default(), 0u32, Vec::new());
        let mut now = at(0);
        source.send(now, &mut out);
        while !source.done() {
            now += at(100);
            let sent = std::mem::take(&mut out);
            for number in sent {
                seen += 1;
                if seen * 7 % 3 != 0 {
                    got.add(number);
                    source.acknowledged(got.next(), now, &mut out);
                }
            }
            if source.deadline() <= now {
                source.expired(now, &mut out);
            }
            assert!(now < Time::from_secs(10_000), "stuck at {}", got.next());
        }
        assert_eq!(got.runs(), [(1, 200)]);
    }
}
