//! Single flows under heavy loss, packet by packet, against ns-2.35.
//!
//! `golden/ns2_lossy.csv` is what ns-2's own package printed; the tool that
//! wrote it, `tools/validate/lossy.py`, says how.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::law::{Draw, PerPacket, Reason, Verdict};
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::port::Stages;
use tidegate_core::units::Time;
use tidegate_sim::Custom;

/// When a packet came to the bottleneck, and what it was.
type Seen = Vec<(f64, String)>;

/// Loses the packets that ns-2 lost, by their order, and notes all.
struct Lose {
    lost: Vec<bool>,
    seen: Arc<Mutex<Seen>>,
}

impl PerPacket for Lose {
    fn arrive(&mut self, packet: &Packet, now: Time, _: &mut dyn Draw) -> Verdict {
        let mut seen = self.seen.lock().expect("no one panicked");
        let lost = self.lost.get(seen.len()) == Some(&true);
        let what = if packet.flags.has(Flags::SYN) {
            "syn".into()
        } else if packet.flags.has(Flags::DATA) {
            packet.seq.to_string()
        } else if packet.flags.has(Flags::FIN) {
            "fin".into()
        } else {
            "ack".into()
        };
        seen.push((now.secs(), what));
        if lost { Verdict::Drop(Reason::Custom) } else { Verdict::Pass }
    }
}

/// One flow of the file: its size, what ns-2 sent and what was lost of it.
#[derive(Default)]
struct Flow {
    size: u64,
    sent: Seen,
    lost: Vec<bool>,
}

fn flows() -> BTreeMap<String, Flow> {
    let mut flows = BTreeMap::<String, Flow>::new();
    for line in include_str!("golden/ns2_lossy.csv").lines().skip(1) {
        let [name, size, at, what, lost]: [&str; 5] =
            line.split(',').collect::<Vec<_>>().try_into().expect("five columns");
        let flow = flows.entry(name.to_owned()).or_default();
        flow.size = size.parse().expect("a size");
        flow.sent.push((at.parse().expect("a time"), what.to_owned()));
        flow.lost.push(lost == "1");
    }
    flows
}

/// Handshake, slow start, duplicates, timeouts, their back-off and the close:
/// the same packets at the same microsecond as in ns-2.
#[test]
fn a_flow_under_loss_sends_what_ns2_sends() {
    let flows = flows();
    assert_eq!(flows.len(), 9);
    for (name, flow) in flows {
        let text = format!(
            "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"{}B\"\n\
             transport = {{ tcp = {{ profile = \"ns2-2006\" }} }}",
            flow.size
        );
        let seen = Arc::default();
        let mut stages = Stages::new();
        stages.custom = Some(Box::new(Lose { lost: flow.lost, seen: Arc::clone(&seen) }));
        let custom = Custom { stages: vec![("bottleneck".into(), stages)], ..Custom::default() };
        let results = run_with(&load(&text, &[("duration", "4000s")]), 1, custom);
        // what follows the close is the other end's: ns-2 times its FIN by ticks
        let closed = crate::common::flow(&results, "closed_s");
        let mut seen = seen.lock().expect("no one panicked");
        seen.retain(|(at, _)| *at < closed);
        for (number, (mine, theirs)) in seen.iter().zip(&flow.sent).enumerate() {
            let same = mine.1 == theirs.1 && (mine.0 - theirs.0).abs() < 1e-6;
            assert!(same, "flow {name}, packet {number}: {mine:?}, in ns-2 {theirs:?}");
        }
        assert_eq!(seen.len(), flow.sent.len(), "flow {name}");
        assert_eq!(
            crate::common::flow(&results, "delivered_bytes"),
            flow.size as f64,
            "flow {name}"
        );
    }
}
