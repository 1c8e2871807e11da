//! The programs of the gate in the kernel that runs, packet by packet.
//!
//! Each test needs the right to load programs. Without it the test is left out: it is counted in the
//! list that `make test` prints, or fails where nothing may be left out (`left_out.rs`).

mod clients;
mod golden;
mod left_out;
pub(crate) mod packets;
mod quic;
mod rules;
mod sight;

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::{Fate, Settings, Tally};

/// What a program returns for a packet that may go on, and for one that may not
/// (linux/pkt_cls.h: `TC_ACT_UNSPEC`, `TC_ACT_SHOT`).
pub(crate) const PASS: i32 = -1;
pub(crate) const SHOT: i32 = 2;

/// A lease of 30 s, by the test's clock at zero.
pub(crate) const LEASE: u64 = 30_000_000_000;

/// A token bucket for openers of either kind, at an Ethernet, by the test's clock.
pub(crate) fn settings() -> Settings {
    Settings {
        opener: 2,
        limiter: 1,
        ends: 1,
        ethernet: 1,
        test_clock: 1,
        end_words: 64,
        salt: 7,
        ..Settings::default()
    }
}

/// A program with a lease that does not end, which refuses; none where it may not be loaded.
pub(crate) fn gate(settings: Settings, flows: u32) -> Option<KernelGate> {
    let missing = tidegate_gate::privileges::missing();
    if !missing.is_empty() {
        left_out::record(&format!(
            "no right to load programs ({}): run make test as root",
            missing.join(", ")
        ));
        return None;
    }
    stay_on_one_processor();
    let mut gate = KernelGate::load(&settings, flows, &[]).expect("the kernel takes the program");
    gate.program
        .set(|control| (control.lease_ns, control.enforce) = (LEASE, 1))
        .expect("the kernel takes the lease");
    Some(gate)
}

/// Keeps the thread on the processor where it is. The programs count by processor, and which packet
/// of a flow is drawn follows from the count there: on a busy machine a test that moves between two
/// processors would draw others.
fn stay_on_one_processor() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("a thread may stay where it is");
}

/// Shows the program a packet; its action.
pub(crate) fn show(gate: &KernelGate, packet: &[u8]) -> i32 {
    gate.program.show(packet, 1).expect("the kernel shows it").action
}

/// Shows a packet; the one fate that it met.
pub(crate) fn fate(gate: &KernelGate, packet: &[u8]) -> Fate {
    let before = tally(gate);
    show(gate, packet);
    let after = tally(gate);
    let met: Vec<Fate> =
        Fate::ALL.into_iter().filter(|fate| after.of(*fate) != before.of(*fate)).collect();
    assert_eq!(met.len(), 1, "a packet has one fate: {met:?}");
    met[0]
}

pub(crate) fn tally(gate: &KernelGate) -> Tally {
    gate.program.tally().expect("the kernel tells its counts")
}
