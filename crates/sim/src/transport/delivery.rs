//! The delivery rate of a connection (draft-cheng-iccrg-delivery-rate-estimation-00;
//! the idea of Linux's `tcp_rate.c`): how much arrived between the sending of a
//! segment and its acknowledgement, over the longer of the times that sending and
//! acknowledging it took.
//!
//! | symbol (draft)      | here             | meaning                                        |
//! |---------------------|------------------|------------------------------------------------|
//! | C.delivered         | `delivered`      | segments that have arrived                     |
//! | C.delivered_time    | `delivered_at`   | when the last of them was acknowledged         |
//! | C.first_sent_time   | `first_sent`     | sending of the first of the present flight     |
//! | C.app_limited       | `limited_until`  | up to this count the sender had too little to send |
//! | C.lost              | `lost`           | segments marked lost (draft-ietf-ccwg-bbr, 2.2) |
//! | P.*                 | [`Stamp`]        | the same, when a segment was sent              |
//! | RS.*                | [`Pick`]         | of the newest segment that an ACK covers       |

use tidegate_core::units::Time;

use super::control::{Counts, Lost};

/// The state of the connection when a segment was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    delivered_at: Time,
    first_sent: Time,
    delivered: u32,
    lost: u32,
    /// Segments in flight, this one included.
    in_flight: u32,
    limited: bool,
}

/// The newest segment that an acknowledgement covers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pick {
    newest: Option<(Time, u32, Stamp)>,
}

/// The connection's counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    limited_until: u64,
    lost: u32,
    /// The segment sent last left while none was in the network, of a sender with too little to send.
    restarts: bool,
}

/// One sample: `delivered` over `interval`; an interval of zero marks an invalid one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sampled {
    pub delivered: u32,
    pub interval: Time,
    pub limited: bool,
    pub before: u64,
    /// Segments in flight when the newest of those acknowledged was sent, itself included.
    pub in_flight: u32,
    /// Segments marked lost since then.
    pub lost: u32,
}

impl Delivery {
    pub(super) const NEW: Delivery = Delivery {
        delivered: 0,
        delivered_at: Time::ZERO,
        first_sent: Time::ZERO,
        limited_until: 0,
        lost: 0,
        restarts: false,
    };

    /// Segments that have arrived.
    pub(super) fn total(&self) -> u64 {
        self.delivered
    }

    /// What is counted so far.
    pub(super) fn counts(&self) -> Counts {
        let Delivery { delivered, delivered_at, lost, .. } = *self;
        Counts { delivered, delivered_at, lost }
    }

    /// Whether the segment sent last left while none was in the network, of a sender that had too
    /// little to send.
    pub(super) fn restarts(&self) -> bool {
        self.restarts
    }

    /// The connection is open, and the application writes for the first time (Linux:
    /// `tcp_rate_check_app_limited`): what leaves is application-limited until the first segment has
    /// arrived. A SYN counts as delivered.
    pub(super) fn open(&mut self) {
        self.delivered = 1;
        self.limit(0);
    }

    /// A segment is sent, with `pipe` segments in flight before it; `first`: nothing is outstanding
    /// (draft, 3.2). What is lost is outstanding, so that a timeout makes no interval short.
    pub(super) fn send(&mut self, now: Time, pipe: u32, first: bool) -> Stamp {
        self.restarts = pipe == 0 && self.limited_until > 0;
        if first {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Stamp {
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            delivered: self.delivered as u32,
            lost: self.lost,
            in_flight: pipe + 1,
            limited: self.limited_until > 0,
        }
    }

    /// A segment is marked lost.
    pub(super) fn lose(&mut self, seq: u32, stamp: &Stamp) -> Lost {
        self.lost = self.lost.wrapping_add(1);
        Lost {
            seq,
            in_flight: stamp.in_flight,
            lost: self.lost.wrapping_sub(stamp.lost),
            limited: stamp.limited,
            total: self.delivered,
        }
    }

    /// A segment is acknowledged for the first time (draft, 3.3).
    pub(super) fn arrived(&mut self, pick: &mut Pick, seq: u32, sent: Time, stamp: &Stamp) {
        self.delivered += 1;
        if pick.newest.is_none_or(|(at, number, _)| (sent, seq) > (at, number)) {
            pick.newest = Some((sent, seq, *stamp));
            self.first_sent = sent;
        }
    }

    /// The sample of an acknowledgement, after all of its segments (draft, 3.3).
    pub(super) fn sample(&mut self, pick: Pick, now: Time, min_rtt: Time) -> Option<Sampled> {
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let (sent, _, stamp) = pick.newest?;
        self.delivered_at = now;
        let sending = sent.saturating_sub(stamp.first_sent);
        let acking = now.saturating_sub(stamp.delivered_at);
        let interval = sending.max(acking);
        // an interval below the least round trip comes from compressed acknowledgements
        let valid = min_rtt == Time::NEVER || interval >= min_rtt;
        Some(Sampled {
            delivered: self.delivered as u32 - stamp.delivered,
            interval: if valid { interval } else { Time::ZERO },
            limited: stamp.limited,
            before: u64::from(stamp.delivered),
            in_flight: stamp.in_flight,
            lost: self.lost.wrapping_sub(stamp.lost),
        })
    }

    /// The sender is application-limited, with so much in flight (draft, 3.4).
    pub(super) fn limit(&mut self, flight: u32) {
        self.limited_until = (self.delivered + u64::from(flight)).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    /// By hand: segments leave at 0, 10, 20 ... ms and come back 100 ms later. The
    /// tenth leaves at 90 ms with none delivered; the eleventh at 100 ms with one, at 100 ms.
    /// Its acknowledgement comes at 200 ms: ten delivered since then in 100 ms.
    #[test]
    fn a_steady_flow_has_its_rate() {
        let mut flow = Delivery::NEW;
        let mut stamps = vec![flow.send(ms(0), 0, true)];
        stamps.extend((1..10).map(|k| flow.send(ms(10 * k), k as u32, false)));
        let mut last = None;
        for k in 0..=10_u64 {
            let mut pick = Pick::default();
            flow.arrived(&mut pick, k as u32, ms(10 * k), &stamps[k as usize]);
            last = flow.sample(pick, ms(100 + 10 * k), ms(100));
            stamps.push(flow.send(ms(100 + 10 * k), 9, false));
        }
        let expected = Sampled {
            delivered: 10,
            interval: ms(100),
            limited: false,
            before: 1,
            in_flight: 10,
            lost: 0,
        };
        assert_eq!(last, Some(expected));
    }

    /// Draft, 3.4: what is sent while there is too little to send is marked until it has arrived.
    #[test]
    fn too_little_to_send_is_remembered() {
        let mut flow = Delivery::NEW;
        let first = flow.send(ms(0), 0, true);
        flow.limit(1);
        let second = flow.send(ms(1), 1, false);
        let mut pick = Pick::default();
        flow.arrived(&mut pick, 0, ms(0), &first);
        assert!(!flow.sample(pick, ms(100), ms(100)).is_some_and(|sample| sample.limited));
        let mut pick = Pick::default();
        flow.arrived(&mut pick, 1, ms(1), &second);
        assert!(flow.sample(pick, ms(101), ms(100)).is_some_and(|sample| sample.limited));
        assert!(!flow.send(ms(102), 0, true).limited);
    }

    /// Linux (`tcp_rate_check_app_limited`): what leaves before the first segment has arrived is
    /// marked, and what leaves then is not. With nothing in the network the sender restarts.
    #[test]
    fn the_first_flight_is_limited() {
        let mut flow = Delivery::NEW;
        flow.open();
        let first = flow.send(ms(0), 0, true);
        assert!(first.limited && flow.restarts());
        let second = flow.send(ms(1), 1, false);
        assert!(second.limited && !flow.restarts(), "one is in the network");
        let mut pick = Pick::default();
        flow.arrived(&mut pick, 0, ms(0), &first);
        assert!(flow.sample(pick, ms(100), ms(100)).is_some_and(|sample| sample.limited));
        assert!(!flow.send(ms(100), 1, false).limited);
        flow.limit(0);
        assert!(flow.send(ms(200), 0, true).limited && flow.restarts());
    }

    /// Linux (`tcp_rate_skb_sent`), by hand: of two segments one arrives at 100 ms, and the other
    /// counts as lost and goes again at 300. It is acknowledged at 400: the interval is from the
    /// acknowledgement before its sending, 300 ms, not the round trip of 100 alone.
    #[test]
    fn a_timeout_makes_no_interval_short() {
        let mut flow = Delivery::NEW;
        let first = flow.send(ms(0), 0, true);
        flow.send(ms(1), 1, false);
        let mut pick = Pick::default();
        flow.arrived(&mut pick, 0, ms(0), &first);
        flow.sample(pick, ms(100), ms(100));
        let again = flow.send(ms(300), 0, false);
        let mut pick = Pick::default();
        flow.arrived(&mut pick, 1, ms(300), &again);
        let sample = flow.sample(pick, ms(400), ms(100)).map(|sample| sample.interval);
        assert_eq!(sample, Some(ms(300)));
    }

    /// Draft, 3.3: acknowledgements that come in a lump give no rate above that of sending.
    #[test]
    fn a_lump_of_acknowledgements_counts_the_time_of_sending() {
        let mut flow = Delivery::NEW;
        let stamps: Vec<Stamp> = (0..4).map(|k| flow.send(ms(50 * k), k as u32, k == 0)).collect();
        let mut pick = Pick::default();
        for (k, stamp) in stamps.into_iter().enumerate() {
            flow.arrived(&mut pick, k as u32, ms(50 * k as u64), &stamp);
        }
        let sample = flow.sample(pick, ms(160), ms(10));
        assert_eq!(sample.map(|s| (s.delivered, s.interval)), Some((4, ms(160))));
    }
}
