//! What the link of a port does to single packets, drawn from streams of its own.

use std::collections::BTreeMap;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_core::port::{Crossing, LinkVariation, Medium, Propagation};
use tidegate_core::units::Time;

use crate::draw::{normal, stream};
use crate::scenario::{Impairments, Jitter, PacketOrder, Reorder, Spread};

/// The media that ports of one carrier share, by name.
#[derive(Default)]
pub struct Media(BTreeMap<String, Medium>);

/// The link of the port of this name under this seed; none: it is a constant one.
pub(super) fn link(
    impairments: &Impairments,
    seed: u64,
    port: &str,
    media: &mut Media,
) -> Option<LinkVariation> {
    // age and policer are before the queue, and what befalls packets is drawn behind the link
    let elsewhere = Impairments {
        lifetime: None,
        police: None,
        corrupt: 0.0,
        duplicate: 0.0,
        ..impairments.clone()
    };
    if elsewhere == Impairments::default() {
        return None;
    }
    let varied = impairments.jitter.is_some() || impairments.reorder.is_some();
    let propagation = varied.then(|| Box::new(Varied::new(impairments, seed, port)) as _);
    let opportunities = impairments.opportunities.clone();
    let medium = impairments
        .medium
        .as_ref()
        .map(|shared| media.0.entry(shared.name.clone()).or_default().join(shared.gap));
    Some(LinkVariation { propagation, batching: impairments.batching, opportunities, medium })
}

/// Delays of single packets, each law with a stream of its own.
struct Varied {
    jitter: Option<(Jitter, Pcg64)>,
    reorder: Option<(Reorder, Pcg64)>,
}

impl Varied {
    fn new(impairments: &Impairments, seed: u64, port: &str) -> Varied {
        let named = |purpose| stream(seed, port, purpose);
        Varied {
            jitter: impairments.jitter.map(|jitter| (jitter, named("jitter"))),
            reorder: impairments.reorder.map(|reorder| (reorder, named("reorder"))),
        }
    }
}

impl Spread {
    /// The next difference, in picoseconds.
    fn draw(self, random: &mut Pcg64) -> i64 {
        let (scale, unit) = match self {
            Spread::Uniform(most) => (most, 2.0 * random.random::<f64>() - 1.0),
            Spread::Normal(deviation) => (deviation, normal(random)),
        };
        (scale.ps() as f64 * unit).round() as i64
    }
}

impl Propagation for Varied {
    fn cross(&mut self, delay: Time) -> Crossing {
        let mut crossing = Crossing { delay, waits: true, holds: true };
        if let Some((jitter, random)) = &mut self.jitter {
            let ps = delay.ps().saturating_add_signed(jitter.spread.draw(random));
            crossing.delay = Time::from_ps(ps);
            crossing.waits = jitter.order == PacketOrder::Kept;
            crossing.holds = crossing.waits;
        }
        if let Some((reorder, random)) = &mut self.reorder
            && random.random::<f64>() < reorder.share
        {
            crossing.delay += reorder.by;
            crossing.holds = false;
        }
        crossing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Time = Time::from_ms(50);
    const COUNT: usize = 100_000;

    fn crossings(impairments: Impairments) -> Vec<Crossing> {
        let mut varied = Varied::new(&impairments, 7, "bottleneck");
        (0..COUNT).map(|_| varied.cross(DELAY)).collect()
    }

    /// Mean and standard deviation of the delays, in milliseconds.
    fn moments(spread: Spread) -> (f64, f64) {
        let jitter = Some(Jitter { spread, order: PacketOrder::Kept });
        let found = crossings(Impairments { jitter, ..Impairments::default() });
        let delays: Vec<f64> = found.iter().map(|one| one.delay.secs() * 1e3).collect();
        let mean = delays.iter().sum::<f64>() / COUNT as f64;
        let square = delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>();
        (mean, (square / COUNT as f64).sqrt())
    }

    /// As `netem delay 50ms 10ms`: evenly from 40 to 60 ms, standard deviation 10 ms / sqrt(3).
    /// The error of the mean of 100,000 draws is 0.018 ms.
    #[test]
    fn a_uniform_jitter_has_its_moments() {
        let (mean, deviation) = moments(Spread::Uniform(Time::from_ms(10)));
        assert!((mean - 50.0).abs() < 0.08, "{mean}");
        assert!((deviation - 10.0 / 3.0f64.sqrt()).abs() < 0.05, "{deviation}");
        let jitter =
            Some(Jitter { spread: Spread::Uniform(Time::from_ms(10)), order: PacketOrder::Free });
        let found = crossings(Impairments { jitter, ..Impairments::default() });
        let range = Time::from_ms(40)..=Time::from_ms(60);
        assert!(found.iter().all(|one| range.contains(&one.delay) && !one.waits && !one.holds));
    }

    /// As `netem delay 50ms 10ms distribution normal`; the error of the mean is 0.03 ms.
    #[test]
    fn a_normal_jitter_has_its_moments() {
        let (mean, deviation) = moments(Spread::Normal(Time::from_ms(10)));
        assert!((mean - 50.0).abs() < 0.13, "{mean}");
        assert!((deviation - 10.0).abs() < 0.1, "{deviation}");
    }

    /// A twentieth of 100,000 packets is 5000, with a standard deviation of 69.
    #[test]
    fn the_share_that_is_held_back_is_the_one_asked_for() {
        let reorder = Some(Reorder { share: 0.05, by: Time::from_ms(3) });
        let found = crossings(Impairments { reorder, ..Impairments::default() });
        let held = found.iter().filter(|one| one.delay == Time::from_ms(53) && !one.holds).count();
        let others = found.iter().filter(|one| one.delay == DELAY && one.holds).count();
        assert_eq!(held + others, COUNT);
        assert!((4700..5300).contains(&held), "{held}");
    }
}
