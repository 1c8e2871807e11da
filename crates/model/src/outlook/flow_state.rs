//! Detects whether a port keeps state per flow: the same packets pass through it twice, once as
//! many flows and once as one flow.
//!
//! A law that keeps state per flow, or uses the flow of a packet, treats the two differently. A law
//! that uses only flags, sizes and times cannot.
//!
//! | quantity            | value                                                      |
//! |---------------------|------------------------------------------------------------|
//! | a flow              | SYN, eight data packets, FIN                               |
//! | interleaving        | a few tens of flows are active at a time                   |
//! | load                | 1.5 times the capacity of the link, from the start         |

use tidegate_core::law::Reason;
use tidegate_core::packet::{Ext, Flags, Packet, RateHeader};
use tidegate_core::port::{Outcome, Port};
use tidegate_core::units::Time;

use crate::port::{Media, NoSuchLaw, OwnLaws, Supplied};
use crate::scenario;

/// Data packets of a flow.
const DATA: u32 = 8;
/// Distance between two packets of a flow, in packets of all flows.
const STRIDE: u32 = 37;
/// Size of a packet with data, and without.
const SIZES: (u16, u16) = (1000, 40);
/// Seed of the port's random numbers, the same both times.
const SEED: u64 = 1;

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum PacketEnd {
    /// Neither delivered nor refused on arrival: dropped while it waited, or still waiting.
    #[default]
    Gone,
    /// Dropped or refused on arrival.
    Lost(Reason),
    /// Delivered at this time, with this header.
    Delivered(Time, Ext),
}

/// How many packets of `flows` flows are treated differently when all are marked as one flow.
///
/// # Errors
/// A user's own law, which is not available, or which has failed.
pub fn treated_differently(spec: &scenario::Port, flows: u32) -> Result<u32, NoSuchLaw> {
    let packets = crowd(spec, flows);
    let own = fates(spec, &packets)?;
    let same: Vec<(Time, Packet)> = packets
        .iter()
        .map(|&(at, packet)| (at, Packet { flow: 0, src: 0, generation: 0, ..packet }))
        .collect();
    let one = fates(spec, &same)?;
    Ok(own.iter().zip(&one).map(|(own, one)| u32::from(own != one)).sum())
}

/// The packets and their arrival times.
fn crowd(spec: &scenario::Port, flows: u32) -> Vec<(Time, Packet)> {
    let each = DATA + 2;
    let mut places: Vec<(u32, u32, u32)> = (0..flows)
        .flat_map(|flow| (0..each).map(move |number| (flow * each + number * STRIDE, flow, number)))
        .collect();
    places.sort_unstable();
    let bytes = u64::from(DATA) * u64::from(SIZES.0) + 2 * u64::from(SIZES.1);
    let gap = Time::from_ps(spec.rate.pace().of(bytes).ps() / u64::from(each) * 2 / 3);
    let mut at = Time::ZERO;
    let mut packets = Vec::with_capacity(places.len());
    for (_, flow, number) in places {
        at += gap;
        packets.push((at, packet(at, flow, number)));
    }
    packets
}

fn packet(at: Time, flow: u32, number: u32) -> Packet {
    let (flags, size) = match number {
        0 => (Flags::SYN, SIZES.1),
        last if last > DATA => (Flags::FIN.with(Flags::ACK), SIZES.1),
        _ => (Flags::DATA.with(Flags::ACK), SIZES.0),
    };
    // the requests must not identify a sender: round-trip times repeat
    let rtt_us = 40_000 + 20_000 * (flow % 5);
    Packet {
        at,
        sent: at,
        flow,
        seq: number,
        ext: Ext::Rate(RateHeader { request: 1 << 27, feedback: 0, rtt_us }),
        src: (flow % 1000) as u16,
        size,
        flags,
        ..Packet::default()
    }
}

/// The fate of each packet at the port, in order.
fn fates(spec: &scenario::Port, packets: &[(Time, Packet)]) -> Result<Vec<PacketEnd>, NoSuchLaw> {
    let (own, media) = (&mut OwnLaws::default(), &mut Media::default());
    let mut supplied = Supplied { own, names: &|_| Box::new(|_| None), media };
    let mut port: Port<u32> = spec.build(0, SEED, &mut supplied)?;
    let failed = |_| NoSuchLaw(spec.name.clone());
    let mut found = vec![PacketEnd::Gone; packets.len()];
    port.start(Time::ZERO).map_err(failed)?;
    for (number, &(at, packet)) in (0..).zip(packets) {
        serve(&mut port, at, &mut found).map_err(failed)?;
        match port.arrive(&packet, number, at) {
            Outcome::Taken => {}
            Outcome::Lost(reason, _) | Outcome::Rejected(reason, _) => {
                found[number as usize] = PacketEnd::Lost(reason);
            }
        }
    }
    Ok(found)
}

/// Processes everything that is due at the port until `now`.
fn serve(
    port: &mut Port<u32>,
    now: Time,
    found: &mut [PacketEnd],
) -> Result<(), tidegate_core::law::Fault> {
    loop {
        let (event, tick) = (port.next_event(), port.tick_at());
        if event.min(tick) > now {
            return Ok(());
        }
        if tick <= event {
            port.tick(tick)?;
            continue;
        }
        port.advance(event);
        while let Some((packet, number)) = port.deliver(event) {
            found[number as usize] = PacketEnd::Delivered(event, packet.ext);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::treated_differently;
    use crate::{Source, load};

    /// A dumbbell with this port at its bottleneck.
    fn differ(port: &str) -> u32 {
        let text = format!(
            "name = 'a'\nduration = '1s'\n[topology.dumbbell]\n\
             access = {{ rate = '100Mbit', delay = '1ms' }}\n\
             bottleneck = {{ rate = '10Mbit', delay = '10ms', buffer = '50packets' }}\n\
             [port.bottleneck]\n{port}\n[traffic.web]\narrivals = {{ poisson = '1/s' }}\n\
             size = {{ constant = '10kB' }}\ntransport = {{ tcp = {{ }} }}\n"
        );
        let scenario = load(Source { name: "a", text: &text }, &[], &Default::default());
        let scenario = scenario.unwrap_or_else(|report| panic!("{}", report.render(false)));
        let port = scenario.network.ports.iter().find(|port| port.name == "bottleneck");
        treated_differently(port.expect("it is there"), 1_000).expect("every law is at hand")
    }

    /// Rule: laws that use flags, sizes and the queue do not depend on flows.
    #[test]
    fn laws_without_state_of_flows_treat_all_alike() {
        for port in [
            "",
            "queue = { law = 'red', min_th = 10, max_th = 30 }",
            "queue = { law = 'dqm' }",
            "gate = { law = 'close-probe', alpha_min = 10 }",
            "gate = { law = 'gss-ga', alpha_min = 10 }",
            "stamp = { law = 'qfcp' }",
        ] {
            assert_eq!(differ(port), 0, "{port}");
        }
    }

    /// Rule: flow queues, and gates with eligibility, depend on flows.
    #[test]
    fn laws_that_keep_something_of_flows_do_not() {
        for port in ["queue = { law = 'fq-codel' }", "queue = { law = 'cake' }"] {
            assert!(differ(port) > 1_000, "{port}: {}", differ(port));
        }
    }
}
