//! Hosts that are not the simulator's own: the one of docs/own-host.md.

#[path = "../../../examples/own_host.rs"]
mod own;

use std::sync::{Arc, Mutex};

use crate::common::*;
use tidegate_core::drill::{self, PathEnd, Subject};
use tidegate_core::host::{Ends, Host, Mark, Order, Report, Stack, Transfer};
use tidegate_core::units::Time;
use tidegate_model::scenario::Quic;
use tidegate_sim::{BuildError, Custom, Results, Simulation};

/// The stack that the scenarios here name.
pub fn simple(quic: &Quic) -> Option<Stack> {
    (quic.stack == "simple").then(|| Box::new(own::connect) as Stack)
}

fn results(text: &str, settings: &[(&str, &str)]) -> Results {
    let custom = Custom { stacks: Some(&mut simple), ..Custom::default() };
    run_with(&load(text, settings), 1, custom)
}

/// One class, whose only flow starts at once.
fn one(rest: &str) -> String {
    format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{rest}\n\
         transport = {{ quic = {{ stack = \"simple\" }} }}\n"
    )
}

/// By hand, over 100, 10 and 100 Mbit/s and 100 ms: a hello of 33 B and its answer take 31.68 us
/// each beside 100 ms. Then two datagrams of 1500 B and the end of 33 B leave at once: 120 us at the
/// first link, twice 1.2 ms at the second, and at the last link, where the end waits for the
/// second datagram, 120 us and 2.64 us. The answer to the end takes as long as that to the hello and
/// waits 26.4 us - 2.64 us for the answer before it, which had come to the 10 Mbit/s 2.64 us sooner.
#[test]
fn a_transfer_takes_as_long_as_its_datagrams() {
    let upload = results(&one("size = \"2934B\""), &[]);
    let (hello, data) = (100.031_68e-3, 100e-3 + 120e-6 + 2.4e-3 + 122.64e-6);
    let done = 2.0 * hello + data;
    close(flow(&upload, "admitted_s"), hello, 1e-12);
    close(flow(&upload, "data_done_s"), done, 1e-12);
    close(flow(&upload, "closed_s"), done + hello + 23.76e-6, 1e-12);
    assert_eq!(flow(&upload, "delivered_bytes"), 2934.0);
    assert_eq!(flow(&upload, "sent_packets"), 4.0, "the hello, two of data, the end");
    // of a download the answer is the data, and its reader closes
    let download = results(&one("size = \"2934B\"\ndirection = \"download\""), &[]);
    close(flow(&download, "data_done_s"), hello + data, 1e-12);
    close(flow(&download, "closed_s"), hello + data, 1e-12);
}

/// 700 B every second are stopped at 5 s; what was handed in by then arrives. A user's patience
/// ends a transfer that takes longer, and a port without capacity to speak of lets the client try
/// eight times, a second apart.
#[test]
fn a_flow_ends_by_its_stop_its_user_or_its_host() {
    let stopped = results(&one("size = \"unlimited\"\nstop = \"5s\""), &[]);
    assert!(flow(&stopped, "closed_s") > 5.0 && flow(&stopped, "closed_s") < 5.5);
    assert!(flow(&stopped, "delivered_bytes") >= 22.0 * 10.0 * 1467.0, "ten each 201 ms");
    let left = results(&one("size = \"10MB\"\npatience = \"2s\""), &[]);
    assert_eq!(flow(&left, "gave_up_s"), 2.0);
    assert!(flow(&left, "closed_s").is_nan());
    let lost = [("topology.dumbbell.bottleneck.loss", "1.0")];
    let never = results(&one("size = \"1kB\""), &lost);
    assert_eq!(flow(&never, "gave_up_s"), 7.0);
    assert_eq!(flow(&never, "admitted_s").to_bits(), f64::NAN.to_bits());
}

/// How much sooner than the host's own a timer of [`Sharing`] fires, so that its client, whose timer
/// is the host's, does not wake it.
const SOONER: Time = Time::from_ms(100);

/// A server that shares a program with the others, and when the first of them has sent.
struct Sharing {
    server: Box<dyn Host + Send>,
    sent: Option<Arc<Mutex<Vec<f64>>>>,
}

impl Host for Sharing {
    fn receive(&mut self, now: Time, datagram: &[u8], mark: Mark) {
        self.server.receive(now, datagram, mark);
    }

    fn transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
        let mark = self.server.transmit(now, datagram)?;
        if let Some(sent) = &self.sent {
            sent.lock().expect("no thread has failed").push(now.secs());
        }
        Some(mark)
    }

    fn wake(&mut self) -> Time {
        let wake = self.server.wake();
        if wake == Time::NEVER { wake } else { wake.saturating_sub(SOONER) }
    }

    fn slack(&self) -> Time {
        Time::from_ms(1)
    }

    fn poll(&mut self, now: Time, order: Order) -> Report {
        self.server.poll(now + SOONER, order)
    }
}

/// By hand: hellos reach the servers 100.031 68 ms behind their start, and what servers send is lost.
/// They send again after 900 ms. The first one's timer waits for the second hello, 0.4 ms later;
/// with nobody else it waits for its slack, 1 ms.
#[test]
fn a_timer_waits_for_a_packet_of_its_program() {
    let all_lost = [
        ("duration", "1.5s"),
        ("topology.dumbbell.bottleneck.loss", "1.0"),
        ("topology.dumbbell.bottleneck.reverse.loss", "0.0"),
    ];
    let sent_with = |starts: &str| {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let mut sharing = |_: &Quic| {
            let sent = sent.clone();
            Some(Box::new(move |transfer: &Transfer| {
                let Ends { client, server } = own::connect(transfer);
                let sent = (transfer.start == Time::ZERO).then(|| sent.clone());
                Ends { client, server: Box::new(Sharing { server, sent }) }
            }) as Stack)
        };
        let custom = Custom { stacks: Some(&mut sharing), ..Custom::default() };
        let text = one("size = \"1kB\"\ndirection = \"download\"").replace("\"0s\"", starts);
        run_with(&load(&text, &all_lost), 1, custom);
        let mut times = sent.lock().expect("no thread has failed").clone();
        times.dedup();
        times
    };
    let hello = 100.031_68e-3;
    for (starts, again) in [("\"0s\"", 0.901), ("\"0s\", \"0.9004s\"", 0.9004)] {
        let times = sent_with(starts);
        close(times[0], hello, 1e-9);
        close(times[1], hello + again, 1e-9);
    }
}

/// A host that carries one transfer each is refused where users load pages.
#[test]
fn pages_need_hosts_that_carry_objects() {
    let text = one("size = \"1kB\"\npages = { objects = 3 }");
    let custom = Custom { stacks: Some(&mut simple), ..Custom::default() };
    let made = Simulation::new(&load(&text, &[]), 1, custom);
    assert!(matches!(made, Err(BuildError::NoObjects(name)) if name == "simple"));
}

/// Whoever asks for a stack that is not there is told its name.
#[test]
fn a_stack_that_was_not_supplied_is_named() {
    let made = Simulation::new(&load(&one("size = \"1kB\""), &[]), 1, Custom::default());
    assert!(matches!(made, Err(BuildError::NoSuchStack(name)) if name == "simple"));
}

/// The drills of the page: by hand, from the window of ten and the second that the host waits.
#[test]
fn the_host_does_what_its_drills_say() {
    let words = |_: PathEnd, datagram: &[u8]| {
        let number = datagram[1..5].iter().fold(0, |all, &byte| all << 8 | u32::from(byte));
        format!("{}:{number}", char::from(datagram[0]))
    };
    let played = drill::play(include_str!("../../../examples/own_host_drill.txt"), &mut |name| {
        let stack: Stack = Box::new(own::connect);
        (name == "simple").then(|| Subject { stack, words: Box::new(words) })
    });
    assert_eq!(played, Ok(2));
}
