//! The traffic that a node sends: a responsive transfer, or bursts without feedback (lgc, 5).

use serde::{Deserialize, Serialize};
use tidegate_core::active::Address;
use tidegate_core::units::{Size, Time};

use super::responsive::Responsive;

/// The traffic of a node; `To` is the type of its destination: an address, or a name in a testbed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config<To = Address> {
    /// The destination.
    pub to: To,
    /// Number of packets, 1 to 1e6.
    pub packets: u32,
    /// The kind of traffic.
    pub traffic: Traffic,
    /// Bytes of a datagram; default 500B, 39B to 1472B.
    #[serde(default = "size")]
    pub size: Size,
    /// Lifetime of a packet (TTL); default 10s (lgc, 5.1), 1ms to 1h.
    #[serde(default = "life")]
    pub life: Time,
    /// Delay from the start of the node, or from the request to begin; default 0s, up to 1d.
    #[serde(default)]
    pub start: Time,
}

impl<To> Config<To> {
    /// The same traffic with its destination converted.
    pub fn towards<Other>(&self, to: Other) -> Config<Other> {
        let Config { packets, size, life, start, .. } = *self;
        Config { to, packets, traffic: self.traffic.clone(), size, life, start }
    }
}

fn size() -> Size {
    Size::from_bytes(500)
}

fn life() -> Time {
    Time::from_secs(10)
}

/// The kind of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// Responsive: a window, as in TCP.
    Responsive {
        /// Initial slow-start threshold, in packets; 2 to 1e6 (16 in lgc, 5.1).
        ssthresh: f64,
    },
    /// Bursts, each sent at once whatever happens to it.
    Bursts {
        /// Number of bursts; 1 to the number of packets.
        count: u32,
        /// From the start of one burst to the start of the next.
        gap: Time,
    },
}

#[derive(Debug)]
enum State {
    Responsive(Box<Responsive>),
    Bursts { sent: u32, burst: u32 },
}

/// The state of a source.
#[derive(Debug)]
pub struct Source {
    config: Config,
    /// When it begins; never: it waits for a request.
    start: Time,
    begun: bool,
    state: State,
    /// Datagrams sent, with retransmissions.
    pub sent: u64,
}

impl Source {
    /// A source at a node that starts now; `wait`: it begins on request ([`Source::begin`]).
    pub fn new(config: &Config, wait: bool, now: Time) -> Source {
        let state = match config.traffic {
            Traffic::Responsive { ssthresh } => {
                State::Responsive(Box::new(Responsive::new(config.packets, ssthresh)))
            }
            Traffic::Bursts { .. } => State::Bursts { sent: 0, burst: 0 },
        };
        let start = if wait { Time::NEVER } else { now.saturating_add(config.start) };
        Source { config: config.clone(), start, begun: false, state, sent: 0 }
    }

    /// Its settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Starts it; a second call has no effect.
    pub fn begin(&mut self, now: Time) {
        self.start = self.start.min(now.saturating_add(self.config.start));
    }

    /// Whether all packets are sent and, if responsive, acknowledged.
    pub fn done(&self) -> bool {
        match &self.state {
            State::Responsive(state) => state.done(),
            State::Bursts { sent, .. } => *sent >= self.config.packets,
        }
    }

    /// Whether it needs acknowledgements.
    pub fn answered(&self) -> bool {
        matches!(self.state, State::Responsive(_))
    }

    /// When it is due next.
    pub fn due(&self) -> Time {
        if !self.begun {
            return self.start;
        }
        match (&self.state, &self.config.traffic) {
            (State::Bursts { burst, sent }, Traffic::Bursts { gap, .. })
                if *sent < self.config.packets =>
            {
                self.start.saturating_add(*gap * u64::from(*burst))
            }
            (State::Responsive(state), _) => state.deadline(),
            _ => Time::NEVER,
        }
    }

    /// Processes what is due; appends the numbers of the packets to send to `out`.
    pub fn advance(&mut self, now: Time, out: &mut Vec<u32>) {
        while self.due() <= now {
            let first = !std::mem::replace(&mut self.begun, true);
            match (&mut self.state, &self.config.traffic) {
                (State::Responsive(state), _) if first => state.send(now, out),
                (State::Responsive(state), _) => state.expired(now, out),
                (State::Bursts { sent, burst }, Traffic::Bursts { count, .. }) => {
                    *burst += 1;
                    // bursts of 200 / 15 packets are of 13 or 14
                    let until = u64::from(self.config.packets) * u64::from(*burst);
                    let until = (until / u64::from((*count).max(1))) as u32;
                    out.extend(*sent + 1..=until);
                    *sent = until;
                }
                (State::Bursts { .. }, Traffic::Responsive { .. }) => return,
            }
        }
    }

    /// The sink expects `next`: an acknowledgement.
    pub fn acknowledged(&mut self, next: u32, now: Time, out: &mut Vec<u32>) {
        if let State::Responsive(state) = &mut self.state
            && self.begun
        {
            state.acknowledged(next, now, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(packets: u32, count: u32, gap: Time) -> Source {
        let traffic = Traffic::Bursts { count, gap };
        let to = Address::default();
        let start = Time::ZERO;
        let config = Config { to, packets, traffic, size: size(), life: life(), start };
        Source::new(&config, false, Time::ZERO)
    }

    // lgc, 5.1: 200 packets in 5 bursts, 1 s apart, are 40 at each of 0, 1, 2, 3 and 4 s.
    #[test]
    fn bursts_come_at_their_times() {
        let mut source = bursts(200, 5, Time::from_secs(1));
        let mut times = Vec::new();
        while source.due() < Time::NEVER {
            let (now, mut out) = (source.due(), Vec::new());
            source.advance(now, &mut out);
            times.push((now.secs(), out.len(), out[0]));
        }
        assert_eq!(
            times,
            [(0.0, 40, 1), (1.0, 40, 41), (2.0, 40, 81), (3.0, 40, 121), (4.0, 40, 161)]
        );
        assert!(source.done());
    }

    // lgc, 5.1: 200 packets in 15 bursts: five of 14 and ten of 13 are the even way.
    #[test]
    fn uneven_bursts_differ_by_one() {
        let mut source = bursts(200, 15, Time::from_secs(3));
        let mut sizes = Vec::new();
        while !source.done() {
            let mut out = Vec::new();
            source.advance(source.due(), &mut out);
            sizes.push(out.len());
        }
        let of = |size| sizes.iter().filter(|other| **other == size).count();
        assert_eq!((sizes.len(), of(13), of(14)), (15, 10, 5));
    }

    #[test]
    fn a_late_look_catches_up() {
        let mut source = bursts(6, 3, Time::from_secs(1));
        let mut out = Vec::new();
        source.advance(Time::from_secs(60), &mut out);
        assert_eq!(out, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn waits_until_it_is_told() {
        let waiting = Config { start: Time::from_secs(1), ..bursts(1, 1, Time::ZERO).config };
        let mut source = Source::new(&waiting, true, Time::ZERO);
        assert_eq!(source.due(), Time::NEVER);
        source.begin(Time::from_secs(5));
        source.begin(Time::from_secs(7));
        assert_eq!(source.due(), Time::from_secs(6));
    }
}
