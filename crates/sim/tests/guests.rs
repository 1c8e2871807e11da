//! People: one address and one pair of hosts each, whatever they do; and data that goes up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::Custom;

const HOTEL: &str = "name = 'hotel'\nduration = '30s'\n\
    [guests]\nplace = 'hotel'\npeople = 40\npages = 0.9\nvideo = 0.6\nphotos = 0.5\nbegin = '5s'\n\
    [topology.dumbbell]\naccess = { rate = '100Mbit', delay = '1ms' }\n\
    bottleneck = { rate = '50Mbit', delay = '8ms', reverse = { rate = '10Mbit' } }\n";

/// Who opens connections: the numbers of hosts and clients of SYNs.
#[derive(Clone, Default)]
struct Openers(Arc<Mutex<Vec<(u16, u16)>>>);

impl PerPacket for Openers {
    fn arrive(&mut self, packet: &Packet, _: Time, _: &mut dyn Draw) -> Verdict {
        if packet.flags.has(Flags::SYN) {
            self.0.lock().expect("no one panicked").push((packet.src, packet.client));
        }
        Verdict::Pass
    }
}

/// Readers, viewers and senders of photos are 36, 24 and 20 of 40 people, so many of them do two
/// things or three. At the port away from the users every SYN of one host has one number, and each
/// number one host: a gate that admits clients sees people.
#[test]
fn a_guest_is_one_client_in_all_that_he_does() {
    let scenario = load(HOTEL, &[]);
    let openers = Openers::default();
    let mut stages = Stages::new();
    stages.custom = Some(Box::new(openers.clone()));
    let stages = vec![("bottleneck.reverse".to_owned(), stages)];
    let results = run_with(&scenario, 1, Custom { stages, ..Custom::default() });
    let seen = openers.0.lock().expect("no one panicked").clone();
    let mut clients: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
    let mut hosts: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
    for (host, client) in &seen {
        clients.entry(*host).or_default().insert(*client);
        hosts.entry(*client).or_default().insert(*host);
    }
    assert!(clients.values().all(|numbers| numbers.len() == 1), "{clients:?}");
    assert!(hosts.values().all(|places| places.len() == 1), "{hosts:?}");
    // 36 + 24 + 20 and one with an update are 81 roles of 40 people at the most
    let flows = column(&results.flows, "start_s").len();
    assert!((36..=40).contains(&clients.len()) && flows >= 81, "{} people, {flows}", clients.len());
    assert!(!clients.contains_key(&0) && !hosts.contains_key(&0));
}

/// 1 MB in segments of 1460 B and 40 B of headers takes 685 packets and 8.2 s at 1 Mbit/s, or 0.082 s at
/// 100 Mbit/s. Uploads come from the users, who are on the right: they take the slow way.
#[test]
fn an_upload_takes_the_way_from_the_users() {
    let text = |keys: &str| {
        format!(
            "name = 'line'\nduration = '30s'\n[topology.dumbbell]\npairs = 1\n\
             access = {{ rate = '1Gbit', delay = '1ms' }}\n\
             bottleneck = {{ rate = '100Mbit', delay = '8ms', reverse = {{ rate = '1Mbit', buffer = '1000packets' }} }}\n\
             [traffic.one]\narrivals = {{ at = ['0s'] }}\nsize = '1MB'\n{keys}\n\
             transport = {{ tcp = {{ profile = 'linux' }} }}\n"
        )
    };
    let up = run(&load(&text("direction = 'upload'"), &[]), 1);
    assert!(total(&up, "bottleneck.reverse", "departed_bytes") > 1e6);
    assert!(total(&up, "bottleneck", "departed_bytes") < 0.1e6);
    let took = flow(&up, "data_done_s");
    assert!((8.2..8.6).contains(&took), "{took}");
    let down = run(&load(&text("direction = 'download'"), &[]), 1);
    assert!(total(&down, "bottleneck", "departed_bytes") > 1e6);
    assert!(flow(&down, "data_done_s") < 1.0);
}

/// The same scenario and seed have the same guests to the bit; another seed has others.
#[test]
fn guests_are_drawn_from_the_seed() {
    let scenario = load(HOTEL, &[]);
    let [one, same, other] = [1, 1, 2].map(|seed| all_bits(&run(&scenario, seed)));
    assert!(one == same);
    assert!(one != other);
}

/// A hundred people who come to a school within six seconds, and keep their connections: nobody ends
/// one, so all of them pile up. Fewer than a packet in twenty is lost, so it is no overload of
/// sessions, and a gate with the `onset` of a real one refuses nobody (ten to 37 openers before
/// `onset` looked at the loss).
#[test]
fn people_who_come_at_once_are_not_refused() {
    let text = "name = 'crowd'\nduration = '30s'\n\
        [guests]\nplace = 'school'\npeople = 100\nbegin = '6s'\n\
        [topology.dumbbell]\naccess = { rate = '1Gbit', delay = '1ms' }\n\
        bottleneck = { rate = '50Mbit', delay = '5ms', buffer = '100ms', reverse = { rate = '12Mbit' } }\n\
        [port.bottleneck]\ngate = { law = 'tide', onset = '2s', ends_of = 'peer' }\n";
    let scenario = load(text, &[]);
    for seed in 1..=3 {
        let events = run(&scenario, seed).events;
        let [came, admitted] =
            ["arrived", "admitted"].map(|name| column(&events, name).iter().sum::<f64>());
        assert!(came >= 30.0 && came == admitted, "seed {seed}: {admitted} of {came}");
    }
}

/// By hand: 50 a second for 60 s are 3000 of 6000 that come; an admitted upload of 10 kB ends within
/// a second on an idle link of 100 Mbit/s. A gate at the port towards the users meets an upload at
/// its SYN+ACK alone: the SYN passes by another way, and reaches the server long before.
#[test]
fn an_upload_is_admitted_when_its_syn_ack_passes_the_gate() {
    let text = "name = 'x'\nduration = '60s'\nwarmup = '0s'\n\
        [topology.dumbbell]\npairs = 10\naccess = { rate = '1Gbit', delay = '1ms' }\n\
        bottleneck = { rate = '100Mbit', delay = '10ms', buffer = '10000packets' }\n\
        [port.bottleneck]\ngate = { law = 'fixed-rate', rate = '50/s' }\n\
        [traffic.a]\narrivals = { poisson = '100/s' }\nsize = '10kB'\ndirection = 'upload'\n";
    let results = run(&load(text, &[]), 1);
    let admitted = column(&results.flows, "admitted_s");
    let many = admitted.iter().filter(|at| at.is_finite()).count();
    assert!((2900..=3000).contains(&many), "{many} of {}", admitted.len());
    let took = column(&results.flows, "fct_admitted_s");
    let slow = took.iter().filter(|took| **took > 1.0).count();
    assert!(slow < 30, "{slow} took more than a second from their admission");
}
