//! The golden vectors of `core`, replayed against the programs.

use tidegate_core::law::session::{Knobs, Limiter, clients, quic, young};
use tidegate_core::law::settings::Setting;
use tidegate_gate::shared::Settings;

use super::golden_vectors::{LIST, Reader, Rules, replay};
use super::kernel::packets::{frame, udp};
use super::kernel::{PASS, settings};
use super::machine::{Host, Machine, machines};

/// A machine as a reader of vectors.
struct Program(std::cell::RefCell<Box<dyn Machine>>);

/// The settings that follow from the rules.
fn with(rules: &Rules) -> Settings {
    let young = rules.young.map(|packets| young::Config {
        packets: Setting::Is(packets.into()),
        ..young::Config::default()
    });
    let (clients, quic) = (clients::Config::default(), quic::Config::default());
    Settings {
        opener: 0,
        limiter: match rules.limiter {
            Limiter::Counter => 0,
            Limiter::TokenBucket => 1,
            Limiter::SavingBucket => 2,
        },
        hashed: 1,
        client_cells: rules.clients.unwrap_or(0),
        client_idle: clients.idle_ticks() as u32,
        client_wait: clients.wait_ticks() as u32,
        follow: if rules.visits { clients.visit_ticks().0 as u32 } else { 0 },
        visit: if rules.visits { clients.visit_ticks().1 as u32 } else { 0 },
        client_prefix4: 32,
        client_prefix6: 64,
        young_cells: young.map_or(0, |young| young.cells),
        young_packets: young.map_or(0, |young| young.counts()),
        young_k: young.map_or(0, |young| young.k()),
        young_sample: young.map_or(0, |young| young.sample),
        answers_by_age: young.is_some().into(),
        quic_cells: rules.quic.unwrap_or(0),
        quic_idle_ms: (quic.idle.ps() / 1_000_000_000) as u32,
        ..settings()
    }
}

/// An IPv4 packet in its frame, from the address of that client.
fn from(who: u64, protocol: u8, bytes: usize, payload: &[u8]) -> Vec<u8> {
    let length = (bytes as u16).to_be_bytes();
    let head = [0x45, 0, length[0], length[1], 0, 1, 0, 0, 64, protocol, 0, 0];
    let mut packet = [&head[..], &[192, 0, 2, who as u8], &[10, 0, 0, 1], payload].concat();
    packet.resize(bytes, 0);
    frame(0x0800, &packet)
}

fn packet(who: u64, what: &str) -> Vec<u8> {
    let tcp = |flags, bytes| from(who, 6, bytes, &super::kernel::packets::tcp_header(flags));
    let datagram = |first| {
        let mut payload = vec![0; 1200];
        (payload[0], payload[4]) = (first, 1);
        from(who, 17, 1228, &udp(&payload))
    };
    match what {
        "SYN" => tcp(0x02, 40),
        "RST" => tcp(0x04, 40),
        "FIN" => tcp(0x11, 40),
        "DATA" => tcp(0x18, 1000),
        // RFC 9000, 17.2.2 and 17.3
        "INITIAL" => datagram(0xc3),
        "SHORT" => datagram(0x43),
        _ => panic!("`{what}` is no packet"),
    }
}

impl Reader for Program {
    fn at(&mut self, now_ns: u64) {
        self.0.borrow_mut().at(now_ns);
    }

    fn set_knobs(&mut self, knobs: &Knobs) {
        self.0.borrow_mut().set_knobs(knobs);
    }

    fn comes(&mut self, who: u64, what: &str) -> bool {
        self.0.borrow_mut().show(&packet(who, what)) == PASS
    }

    fn sweep(&mut self) {
        self.0.borrow_mut().sweep();
    }

    fn count(&self, name: &str) -> u64 {
        let tally = self.0.borrow_mut().tally();
        match name {
            "arrived" => tally.arrived,
            "admitted" => tally.admitted,
            "ended" => tally.idle_ended,
            "eligible" => tally.eligible,
            "inside" => tally.inside,
            "served" => tally.served,
            "waited" => tally.waited,
            "let_in" => tally.let_in,
            "bytes" => tally.watched_bytes,
            "young_bytes" => tally.young_bytes,
            "answered" => tally.answered,
            _ => panic!("`{name}` is no count"),
        }
    }
}

/// The second reader and the third: what the model replays too.
#[test]
fn every_vector() {
    for file in LIST {
        let mut rules = Rules::default();
        replay(file, |found| {
            rules = *found;
            let host: Box<dyn Machine> = Box::new(Host::start(&with(found)));
            Program(host.into())
        });
        for machine in machines(with(&rules)).into_iter().skip(1) {
            replay(file, |_| Program(machine.into()));
        }
    }
}

/// Which flows are watched, and where their counters are, is the same in the model: two hashes have one
/// counter there if one that is admitted makes the other young.
#[test]
fn the_sample_of_flows_is_that_of_the_model() {
    // xorshift (Marsaglia 2003)
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for (cells, sample) in [(16, 1), (24, 1), (64, 4), (40, 3), (65_536, 8)] {
        let config = young::Config { cells, sample, ..young::Config::default() };
        let settings =
            Settings { young_cells: cells, young_sample: sample, young_packets: 255, ..settings() };
        let mut host = Host::start(&settings);
        let mut together = 0;
        for _ in 0..2_000 {
            let (one, other) = (draw(), draw());
            let mut model = young::Young::new(config);
            let watched = model.queue(one).is_some();
            model.admit(one);
            let alike = model.queue(other).is_some_and(|age| age.young);
            let places = (host.young_place(one), host.young_place(other));
            assert_eq!(places.0.is_some(), watched, "{cells} {sample} {one:#x}");
            let same = places.0.is_some() && places.0 == places.1;
            assert_eq!(same, alike, "{cells} {sample} {one:#x} {other:#x} {places:?}");
            together += u32::from(same);
        }
        assert!(cells > 64 || together > 0, "{cells} {sample}");
    }
}
