//! The traffic that a node sends: a responsive transfer, or bursts without feedback (lgc, 5).

use serde::{Deserialize, Serialize};
use tidegate_core::active::Address;
use tidegate_core::keys;
use tidegate_core::units::{Size, Time};

use super::responsive::Responsive;

keys! {
    /// The traffic of a node.
    pub struct Config:
    to: String = required "The destination: an address, or in a testbed the name of a node";
    packets: u32 = required [1 to 1000000] "Number of packets";
    traffic: Traffic = required "The kind of traffic";
    size: Size = "500B" ["39B" to "1472B"] "Bytes of a datagram";
    life: Time = "10s" ["1ms" to "1h"] "Lifetime of a packet (TTL)" ("lgc, 5.1");
    start: Time = "0s" ["0s" to "24h"] "Delay from the start of the node, or from the request to begin";
}

impl Config {
    /// The address of the destination, if it is one.
    pub fn destination(&self) -> Option<Address> {
        self.to.parse().ok()
    }
}

/// The kind of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Responsive: a window, as in TCP.
    Responsive(Window),
    /// Bursts, each sent at once whatever happens to it.
    Bursts(Bursts),
}

keys! {
    /// A responsive transfer.
    pub struct Window:
    ssthresh: f64 = required [2 to 1e6] "Initial slow-start threshold, in packets (16 in lgc, 5.1)";
}

keys! {
    /// Bursts without feedback.
    pub struct Bursts:
    count: u32 = required [from 1] "Number of bursts; up to the number of packets";
    gap: Time = required ["0s" to "24h"] "From the start of one burst to the start of the next";
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
            Traffic::Responsive(Window { ssthresh }) => {
                State::Responsive(Box::new(Responsive::new(config.packets, ssthresh)))
            }
            Traffic::Bursts(_) => State::Bursts { sent: 0, burst: 0 },
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
            (State::Bursts { burst, sent }, Traffic::Bursts(Bursts { gap, .. }))
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
                (State::Bursts { sent, burst }, Traffic::Bursts(Bursts { count, .. })) => {
                    *burst += 1;
                    // bursts of 200 / 15 packets are of 13 or 14
                    let until = u64::from(self.config.packets) * u64::from(*burst);
                    let until = (until / u64::from((*count).max(1))) as u32;
                    out.extend(*sent + 1..=until);
                    *sent = until;
                }
                (State::Bursts { .. }, Traffic::Responsive(_)) => return,
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
        let traffic = Traffic::Bursts(Bursts { count, gap });
        let (size, life) = (Size::from_bytes(500), Time::from_secs(10));
        let to = Address::default().to_string();
        let config = Config { to, packets, traffic, size, life, start: Time::ZERO };
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
