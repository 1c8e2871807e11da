//! What befalls packets that have crossed the link of a port: it loses, damages or doubles them.

use tidegate_core::law::Draw;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use super::PortDraw;
use crate::scenario::{self, Burst, Course, Loss};

/// What befalls the packets of a link, each law with a stream of its own.
pub struct Mishaps {
    losses: Option<Losses>,
    corrupt: Option<(f64, PortDraw)>,
    duplicate: Option<(f64, PortDraw)>,
}

/// What has befallen a packet that was not lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mishap {
    /// Some bit is wrong: its receiver will refuse it.
    pub damaged: bool,
    /// It arrives twice; the copy is as damaged as the packet.
    pub twice: bool,
}

impl Mishap {
    /// Nothing has.
    pub const NONE: Mishap = Mishap { damaged: false, twice: false };
}

impl Mishaps {
    /// Those of a link under this seed; none if nothing befalls its packets.
    pub fn of(spec: &scenario::Port, seed: u64) -> Option<Mishaps> {
        let drawn = |share: f64, purpose| {
            (share > 0.0).then(|| (share, PortDraw::new(seed, spec, purpose)))
        };
        spec.mistreats().then(|| Mishaps {
            losses: Losses::of(spec, seed),
            corrupt: drawn(spec.impairments.corrupt, "corrupt"),
            duplicate: drawn(spec.impairments.duplicate, "duplicate"),
        })
    }

    /// Draws what befalls a packet, `now` after the start of the run; none: it is lost.
    #[inline]
    pub fn befall(&mut self, packet: &Packet, now: Time) -> Option<Mishap> {
        if self.losses.as_mut().is_some_and(|losses| losses.lose(packet, now)) {
            return None;
        }
        let drawn = |law: &mut Option<(f64, PortDraw)>| {
            law.as_mut().is_some_and(|(share, draw)| draw.uniform() < *share)
        };
        Some(Mishap { damaged: drawn(&mut self.corrupt), twice: drawn(&mut self.duplicate) })
    }
}

/// Random loss on the link of a port.
struct Losses {
    shares: Loss,
    draw: PortDraw,
    bursts: Option<Bursts>,
    over: Option<(Course, PortDraw)>,
}

/// Losses in bursts, and whether a burst is on.
struct Bursts {
    burst: Burst,
    inside: bool,
    draw: PortDraw,
}

impl Bursts {
    /// Whether the next packet is lost.
    fn lose(&mut self) -> bool {
        let Burst { enter, leave, inside, outside } = self.burst;
        let turns = self.draw.uniform() < if self.inside { leave } else { enter };
        self.inside ^= turns;
        self.draw.uniform() < if self.inside { inside } else { outside }
    }
}

impl Losses {
    /// The losses of a link under this seed; none if it loses nothing.
    fn of(spec: &scenario::Port, seed: u64) -> Option<Losses> {
        let draw = |purpose| PortDraw::new(seed, spec, purpose);
        let begin = |burst| Bursts { burst, inside: false, draw: draw("burst") };
        spec.loses().then(|| Losses {
            shares: spec.loss,
            draw: draw("loss"),
            bursts: spec.loss.burst.map(begin),
            over: spec.impairments.loss.clone().map(|share| (share, draw("loss over time"))),
        })
    }

    /// Whether the link loses this packet, `now` after the start of the run.
    fn lose(&mut self, packet: &Packet, now: Time) -> bool {
        let data = packet.flags.has(Flags::DATA);
        let share = if data { self.shares.data } else { self.shares.ack };
        let alone = share > 0.0 && self.draw.uniform() < share;
        let over = self.over.as_mut();
        let besides = over.is_some_and(|(share, draw)| draw.uniform() < share.value(now));
        // the chain takes a step at every packet
        self.bursts.as_mut().is_some_and(Bursts::lose) || alone || besides
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::stream;

    const COUNT: usize = 400_000;

    /// Share of packets that are lost, and mean number of them in a row.
    fn bursts(burst: Burst) -> (f64, f64) {
        let draw = PortDraw(stream(3, "bottleneck", "burst"));
        let mut bursts = Bursts { burst, inside: false, draw };
        let lost: Vec<bool> = (0..COUNT).map(|_| bursts.lose()).collect();
        let total = lost.iter().filter(|lost| **lost).count() as f64;
        let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (total / COUNT as f64, total / runs)
    }

    /// Gilbert: a share of 0.01 / (0.01 + 0.2) = 1/21 is lost, five packets in a row.
    #[test]
    fn bursts_have_the_share_and_length_of_the_formula() {
        let (share, length) = bursts(Burst { enter: 0.01, leave: 0.2, inside: 1.0, outside: 0.0 });
        assert!((share * 21.0 - 1.0).abs() < 0.05, "{share}");
        assert!((length / 5.0 - 1.0).abs() < 0.05, "{length}");
    }

    /// Elliott: 1/21 of the packets are in bursts, half of which are lost, and 1 % of the others.
    #[test]
    fn packets_are_lost_outside_of_bursts_too() {
        let (share, _) = bursts(Burst { enter: 0.01, leave: 0.2, inside: 0.5, outside: 0.01 });
        let expected = (0.5 + 20.0 * 0.01) / 21.0;
        assert!((share / expected - 1.0).abs() < 0.05, "{share}, {expected}");
    }
}
