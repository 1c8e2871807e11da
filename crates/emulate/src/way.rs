//! One direction: a port of the scenario, and the packets that propagate after it.

use std::collections::VecDeque;

use tidegate_core::packet::Packet;
use tidegate_core::port::{Outcome, Port};
use tidegate_core::units::Time;
use tidegate_core::wire::Checksum;
use tidegate_core::wire::ip::{Headers, write};
use tidegate_model::port::{Media, Mishap, Mishaps, NoSuchLaw, OwnLaws, Supplied};
use tidegate_model::route::Routes;
use tidegate_model::scenario::{self, LinkChange, LinkValue, Scenario};
use tun_rs::SyncDevice;

use super::carrier::Clock;
use super::report::{Direction, Watch};
use tidegate_common::fail::{At, Failure};

/// The bytes of a packet in addition to its record, and its headers.
pub(super) type Cargo = Option<(Vec<u8>, Headers)>;

/// A packet that has left the port, and when it is to be written.
struct Leaving {
    due: Time,
    record: Packet,
    bytes: Vec<u8>,
    headers: Headers,
    damaged: bool,
}

/// One direction: from one device through a port to the other device.
pub(super) struct Way {
    spec: scenario::Port,
    port: Port<Cargo>,
    mishaps: Option<Mishaps>,
    /// Propagation delay of the other links on the path.
    beyond: Time,
    leaving: VecDeque<Leaving>,
    watch: Watch,
    pub(super) told: Direction,
    /// Changes of the link to come, the next one last.
    changes: Vec<LinkChange>,
    began: Time,
}

impl Way {
    /// Builds the port with this index in the scenario's network, started at `now`; `media`: what
    /// it may share with that of the other direction.
    pub(super) fn new(
        scenario: &Scenario,
        number: usize,
        (seed, media): (u64, &mut Media),
        now: Time,
    ) -> Result<Way, Failure> {
        let spec = scenario.network.ports[number].clone();
        if spec.filter.is_some() {
            let what = "a filter asks the neighbours of its node, and there are none here";
            return Err(Failure::usage(&spec.name, what).remedy("leave the filter out"));
        }
        if spec.looks_at_ingress() {
            let what =
                "a control sees one direction here, and `ends_of` or `refuse_at` asks for both";
            return Err(Failure::usage(&spec.name, what).remedy(
                "leave them out, or put `tidegated gate` on an interface behind the link",
            ));
        }
        if spec.impairments.lifetime.is_some() {
            let what = "a `lifetime` asks when a packet was sent, and real ones do not say so";
            return Err(Failure::usage(&spec.name, what).remedy("leave it out"));
        }
        let own = &mut OwnLaws::default();
        let mut supplied = Supplied { own, names: &|_| Box::new(|_| None), media };
        let built = spec.build(number as u32, seed, &mut supplied);
        let mut port: Port<Cargo> = built.map_err(|NoSuchLaw(law)| {
            Failure::usage(&spec.name, format!("law `{law}` is handed in from Python or Rust"))
                .remedy("choose one that tidegate has: `tidegate show --schema` lists them")
        })?;
        port.start(now).map_err(|fault| Failure::failed(&spec.name, fault))?;
        let mut changes: Vec<LinkChange> =
            scenario.changes.iter().filter(|one| one.port == number as u32).copied().collect();
        changes.sort_by_key(|one| std::cmp::Reverse(one.at));
        Ok(Way {
            mishaps: Mishaps::of(&spec, seed),
            beyond: beyond(scenario, number as u32),
            leaving: VecDeque::new(),
            watch: Watch::new(now).at("histogram")?,
            told: Direction {
                port: spec.name.clone(),
                delay_varies: varies(&spec, &changes),
                ..Direction::default()
            },
            changes,
            began: now,
            port,
            spec,
        })
    }

    /// A packet arrives at the port; returns its headers if it is refused with a reset.
    pub(super) fn arrive(&mut self, bytes: &[u8], headers: &Headers, now: Time) -> Option<Headers> {
        let cargo = Some((bytes.to_vec(), *headers));
        match self.port.arrive(&headers.record, cargo, now) {
            Outcome::Rejected(_, Some((_, refused))) => Some(refused),
            _ => None,
        }
    }

    /// Sends the answer to a refused opening packet, which passes no gate.
    pub(super) fn answer(&mut self, bytes: Vec<u8>, headers: Headers, now: Time) {
        self.told.resets += 1;
        self.port.arrive_own(&headers.record, Some((bytes, headers)), now);
    }

    /// Changes of the link, deadlines of laws, and what has crossed the port by `now`.
    pub(super) fn keep_up(&mut self, now: Time) -> Result<(), Failure> {
        while let Some(change) = self.changes.pop_if(|change| self.began + change.at <= now) {
            self.spec.change(&mut self.port, change.to, now);
            self.watch.changed();
        }
        while self.port.tick_at() <= now {
            let ticked = self.port.tick(now);
            if ticked.map_err(|fault| Failure::failed(&self.told.port, fault))?.is_none() {
                break;
            }
        }
        while let Some((record, cargo)) = self.port.deliver(now) {
            let (record, Some((bytes, headers))) = (*record, cargo) else { continue };
            let whole = Some(Mishap::NONE);
            let befall = |mishaps: &mut Mishaps| mishaps.befall(&record, now - self.began);
            let Some(fate) = self.mishaps.as_mut().map_or(whole, befall) else {
                self.port.lose_delivered();
                continue;
            };
            self.port.note_mishap(fate.damaged, fate.twice);
            let (due, damaged) = (record.at + self.beyond, fate.damaged);
            if fate.twice {
                let bytes = bytes.clone();
                self.leaving.push_back(Leaving { due, record, bytes, headers, damaged });
            }
            self.leaving.push_back(Leaving { due, record, bytes, headers, damaged });
        }
        // dropped while they waited: free their bytes
        self.port.take_lost();
        self.watch.end_second(self.port.busy_ps(now), now);
        Ok(())
    }

    /// When this direction next has something to do.
    pub(super) fn next(&self) -> Time {
        let change = self.changes.last().map_or(Time::NEVER, |change| self.began + change.at);
        let leaving = self.leaving.front().map_or(Time::NEVER, |packet| packet.due);
        self.port.next_event().min(self.port.tick_at()).min(change).min(leaving)
    }

    /// Writes the packets that are due.
    pub(super) fn write(&mut self, to: &SyncDevice, clock: &Clock) {
        let mut now = clock.now();
        while self.leaving.front().is_some_and(|packet| packet.due <= now) {
            let Some(mut packet) = self.leaving.pop_front() else { break };
            // a packet that cannot be changed is written as it arrived
            let _ = write(&mut packet.bytes, &packet.headers, &packet.record, Checksum::Whole);
            if packet.damaged
                && let Some(last) = packet.bytes.last_mut()
            {
                *last ^= 1; // checksums are sums: any one wrong bit shows
            }
            let taken = to.send(&packet.bytes).is_ok();
            now = clock.now();
            if taken {
                self.watch.wrote(packet.bytes.len(), packet.due, now);
            } else {
                self.told.not_taken += 1;
            }
        }
    }

    /// Requested and achieved values.
    pub(super) fn report(mut self, now: Time) -> Direction {
        self.port.advance(now);
        let asked = (self.port.rate(), self.spec.delay + self.beyond);
        let seconds = now.saturating_sub(self.began).secs();
        let waited = self.port.waiting_ps(now) as f64 * 1e-12;
        self.told.queue_mean_packets = if seconds > 0.0 { waited / seconds } else { 0.0 };
        self.told.seconds = seconds;
        self.watch.write_into(&mut self.told, asked, &self.port.counters());
        self.told
    }
}

/// Whether packets of the link take another time than its delay: by a trace, or packet by packet.
fn varies(spec: &scenario::Port, changes: &[LinkChange]) -> bool {
    let link = &spec.impairments;
    let traced = changes.iter().any(|change| matches!(change.to, LinkValue::Delay { .. }));
    traced || link.jitter.is_some() || link.reorder.is_some() || link.batching.is_some()
}

/// Propagation delay of the other links on the path of a pair of hosts that crosses this port: of
/// the first such pair of the first class that has one.
fn beyond(scenario: &Scenario, port: u32) -> Time {
    let network = &scenario.network;
    let routes = Routes::of(network);
    let pairs = scenario.traffic.iter().flat_map(|class| &class.pairs);
    let ways = pairs.flat_map(|&(one, other)| [(one, other), (other, one)]);
    let mut paths = ways.filter_map(|way| routes.path(network, way, None));
    let crossing = paths.find(|path| path.contains(&port)).unwrap_or_default();
    let others = crossing.iter().filter(|&&link| link != port);
    others.fold(Time::ZERO, |sum, &link| sum + network.ports[link as usize].delay)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tidegate_core::wire::ip::Reader;
    use tidegate_model::Source;

    use super::*;

    /// A link of 1 bit/s: a packet of 28 B takes 224 s.
    const SLOW: &str = r#"
        name = "slow"
        duration = "1s"
        [topology.dumbbell]
        pairs = 1
        access = { rate = "1Mbit", delay = "1ms" }
        bottleneck = { rate = "1bit", delay = "1ms", buffer = "2000packets" }
        [traffic.one]
        arrivals = { at = ["0s"] }
        size = "1kB"
    "#;

    /// IPv4 and UDP with nothing in it (RFC 791, RFC 768), from 10.0.0.1 to 10.0.0.2.
    const DATAGRAM: [u8; 28] = [
        0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 8, 0, 0,
    ];

    /// A way has one direction of the link: what asks for both, or for other nodes, is refused with
    /// the remedy.
    #[test]
    fn what_one_direction_cannot_have_is_refused() {
        for (port, remedy) in [
            ("gate = { law = \"tide\", ends_of = \"peer\" }", "tidegated gate"),
            ("filter = { law = \"lgc\" }", "leave the filter out"),
            ("lifetime = \"10s\"", "leave it out"),
        ] {
            let text = format!("{SLOW}[port.bottleneck]\n{port}\n");
            let source = Source { name: "slow.toml", text: &text };
            let scenario = tidegate_model::load(source, &[], &BTreeMap::new())
                .unwrap_or_else(|report| panic!("{}", report.render(false)));
            let refused = Way::new(&scenario, 0, (1, &mut Media::default()), Time::ZERO).err();
            let said = refused.expect("it is refused").to_string();
            assert!(said.contains("bottleneck") && said.contains(remedy), "{said}");
        }
    }

    /// Every packet is damaged and written twice: of three packets six are to be written.
    #[test]
    fn packets_are_damaged_and_written_twice() {
        let text = SLOW.replace("1bit", "1Mbit");
        let text = format!("{text}[port.bottleneck]\ncorrupt = 1\nduplicate = 1\n");
        let source = Source { name: "slow.toml", text: &text };
        let scenario = tidegate_model::load(source, &[], &BTreeMap::new())
            .unwrap_or_else(|report| panic!("{}", report.render(false)));
        let mut way = Way::new(&scenario, 0, (1, &mut Media::default()), Time::ZERO)
            .expect("it can be built");
        let headers = Reader::new((1, 2)).read(&DATAGRAM).expect("it is a datagram");
        for _ in 0..3 {
            assert!(way.arrive(&DATAGRAM, &headers, Time::ZERO).is_none());
        }
        way.keep_up(Time::from_secs(1)).expect("no law fails");
        assert_eq!(way.leaving.len(), 6);
        assert!(way.leaving.iter().all(|packet| packet.damaged));
        let told = way.report(Time::from_secs(1));
        assert_eq!((told.damaged, told.copied, told.delay_varies), (3, 3, false));
    }

    /// Jitter of the link is no lateness of the program.
    #[test]
    fn a_link_with_jitter_has_a_delay_that_varies() {
        let text = format!("{SLOW}[port.bottleneck]\njitter = {{ uniform = \"1ms\" }}\n");
        let source = Source { name: "slow.toml", text: &text };
        let scenario = tidegate_model::load(source, &[], &BTreeMap::new())
            .unwrap_or_else(|report| panic!("{}", report.render(false)));
        let ports = &scenario.network.ports;
        let number = ports.iter().position(|port| port.name == "bottleneck").expect("it is there");
        let way = Way::new(&scenario, number, (1, &mut Media::default()), Time::ZERO);
        assert!(way.expect("it can be built").told.delay_varies);
    }

    /// By hand: of 1001 packets one is sent and 1000 wait; after `n` services fewer by n. So 400
    /// services (a day and 3200 s) have 1000 - 399 / 2 packets waiting on the average, which is
    /// 3.9 times 2^64 packet picoseconds.
    #[test]
    fn the_mean_queue_of_a_day_is_reported_right() {
        let source = Source { name: "slow.toml", text: SLOW };
        let scenario = tidegate_model::load(source, &[], &BTreeMap::new())
            .unwrap_or_else(|report| panic!("{}", report.render(false)));
        let ports = &scenario.network.ports;
        let number = ports.iter().position(|port| port.name == "bottleneck").expect("it is there");
        let began = Time::from_secs(5);
        let seeded = (1, &mut Media::default());
        let mut way = Way::new(&scenario, number, seeded, began).expect("it can be built");
        let headers = Reader::new((1, 2)).read(&DATAGRAM).expect("it is a datagram");
        for _ in 0..=1000 {
            assert!(way.arrive(&DATAGRAM, &headers, began).is_none());
        }
        let told = way.report(began + Time::from_secs(224 * 400));
        let expected = 1000.0 - 399.0 / 2.0;
        let found = told.queue_mean_packets;
        assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
    }
}
