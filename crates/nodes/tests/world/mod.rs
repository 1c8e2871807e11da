//! Nodes in virtual time: the engines of a testbed file, joined by hand instead of sockets.

#![allow(dead_code, reason = "each test file uses a part")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::{Path, PathBuf};

use tidegate_core::active::{Address, Header};
use tidegate_core::units::Time;
use tidegate_nodes::node::config::Config;
use tidegate_nodes::node::engine::Engine;
use tidegate_nodes::node::menu::Menu;
use tidegate_nodes::node::status::{Event, Status};
use tidegate_nodes::testbed::plan::{Places, Testbed};

/// What happens to datagrams between nodes, out of 1000.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    pub lost: u64,
    pub twice: u64,
    /// Held back by up to 200 ms, so that others overtake.
    pub late: u64,
}

type Datagram = Reverse<(Time, u64, Address, Address, Vec<u8>)>;

pub struct World {
    pub names: BTreeMap<Address, String>,
    configs: BTreeMap<Address, Config>,
    pub engines: BTreeMap<Address, Engine>,
    pub now: Time,
    /// What the clock of a node is off by, in microseconds.
    pub clocks: BTreeMap<Address, i64>,
    pub faults: Faults,
    due: BTreeMap<Address, Time>,
    under_way: BinaryHeap<Datagram>,
    sent: u64,
    pub chance: u64,
    /// Every datagram that was sent, where a test wants them.
    pub tap: Option<Vec<(Address, Address, Vec<u8>)>>,
}

/// Where the shipped testbed files are.
pub fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/testbed").join(name)
}

pub fn read(name: &str) -> Testbed {
    let path = shipped(name);
    let text = std::fs::read_to_string(&path).expect("a shipped file");
    Testbed::read(&path, &text).expect("it is right")
}

/// 2026-01-01, in microseconds since 1970.
pub const WALL: u64 = 1_767_225_600_000_000;

impl World {
    pub fn new(testbed: &Testbed) -> World {
        let places: Places = (4_001u16..)
            .zip(testbed.node.keys())
            .map(|(port, name)| (name.clone(), Address { ip: [127, 0, 0, 1], port }))
            .collect();
        let keys: Vec<_> = (0..testbed.link.len()).map(|i| format!("{i:064x}")).collect();
        let configs = testbed.configs(&places, &keys);
        let mut world = World {
            names: places.iter().map(|(name, at)| (*at, name.clone())).collect(),
            configs: configs.into_iter().map(|config| (config.address, config)).collect(),
            engines: BTreeMap::new(),
            now: Time::ZERO,
            clocks: BTreeMap::new(),
            faults: Faults::default(),
            due: BTreeMap::new(),
            under_way: BinaryHeap::new(),
            sent: 0,
            chance: 1,
            tap: None,
        };
        for at in world.configs.keys().copied().collect::<Vec<_>>() {
            world.start(at);
        }
        world
    }

    /// A node starts, or starts anew, without memory.
    pub fn start(&mut self, at: Address) {
        let clock = self.clock(at);
        let mut engine = Engine::new(&self.configs[&at], &Menu::built_in(), self.now, clock);
        engine.begin();
        self.engines.insert(at, engine);
        self.due.insert(at, self.now);
    }

    /// A node dies.
    pub fn kill(&mut self, at: Address) {
        self.engines.remove(&at);
        self.due.remove(&at);
    }

    pub fn at(&self, name: &str) -> Address {
        *self.names.iter().find(|(_, known)| *known == name).expect("a node of that name").0
    }

    fn clock(&self, at: Address) -> u64 {
        let off = self.clocks.get(&at).copied().unwrap_or(0);
        (WALL + self.now.ps() / 1_000_000).saturating_add_signed(off)
    }

    fn draw(&mut self) -> u64 {
        // a linear congruential generator: any sequence will do, if it is always the same
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.chance >> 33) % 1_000
    }

    pub fn put(&mut self, to: Address, from: Address, bytes: Vec<u8>, at: Time) {
        self.sent += 1;
        self.under_way.push(Reverse((at, self.sent, to, from, bytes)));
    }

    fn carry(&mut self, from: Address, out: Vec<(Address, Vec<u8>)>) {
        for (to, bytes) in out {
            if let Some(tap) = &mut self.tap {
                tap.push((from, to, bytes.clone()));
            }
            if self.draw() < self.faults.lost {
                continue;
            }
            if self.draw() < self.faults.twice {
                self.put(to, from, bytes.clone(), self.now);
            }
            let late = if self.draw() < self.faults.late { self.draw() / 5 } else { 0 };
            self.put(to, from, bytes, self.now + Time::from_ms(late));
        }
    }

    fn advance_node(&mut self, at: Address) {
        let clock = self.clock(at);
        let Some(engine) = self.engines.get_mut(&at) else { return };
        engine.at(self.now, clock);
        let mut out = Vec::new();
        let due = engine.advance(|to, bytes| out.push((to, bytes.to_vec())));
        self.due.insert(at, due);
        self.carry(at, out);
    }

    /// Everything until then.
    pub fn run(&mut self, until: Time) {
        loop {
            let timer = self.due.iter().map(|(at, due)| (*due, *at)).min();
            let timer = timer.unwrap_or((Time::NEVER, Address::default()));
            let wire = self.under_way.peek().map_or(Time::NEVER, |Reverse(next)| next.0);
            if timer.0.min(wire) > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(timer.0.min(wire));
            if wire > timer.0 {
                self.advance_node(timer.1);
                continue;
            }
            let Some(Reverse((_, _, to, from, bytes))) = self.under_way.pop() else { return };
            let clock = self.clock(to);
            if let Some(engine) = self.engines.get_mut(&to) {
                engine.at(self.now, clock);
                engine.receive(from, &bytes);
                self.advance_node(to);
            }
        }
    }

    pub fn status(&mut self, name: &str) -> Status {
        let at = self.at(name);
        let (now, clock) = (self.now, self.clock(at));
        let engine = self.engines.get_mut(&at).expect("it lives");
        engine.at(now, clock);
        engine.status()
    }

    /// A packet that begins at a node.
    pub fn inject(&mut self, at: Address, header: &Header, payload: &[u8]) {
        let (now, clock) = (self.now, self.clock(at));
        let engine = self.engines.get_mut(&at).expect("it lives");
        engine.at(now, clock);
        engine.inject(header, payload).expect("it fits");
        self.advance_node(at);
    }

    /// Packets of one node that arrived at another.
    pub fn arrived(&mut self, sink: &str, origin: &str) -> u64 {
        let origin = self.at(origin);
        self.status(sink).arrived.get(&origin).map_or(0, |arrived| arrived.numbers.count())
    }

    /// Numbers of the packets of one node that a filter took at another.
    pub fn filtered(&mut self, node: &str, origin: &str) -> Vec<(u32, u32)> {
        let origin = self.at(origin);
        self.status(node).filtered.get(&origin).map_or(Vec::new(), |ranges| ranges.runs().to_vec())
    }

    pub fn events(&mut self, node: &str, phase: &str) -> Vec<Event> {
        self.status(node).events.into_iter().filter(|event| event.phase == phase).collect()
    }
}
