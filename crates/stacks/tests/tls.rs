//! Connections with TLS 1.3 by rustls: the same bytes each time, and protected.

use tidegate_core::host::{Order, Phase, Transfer};
use tidegate_core::units::Time;
use tidegate_core::wire::quic::Initial;
use tidegate_model::scenario::{QuicControl, QuicCrypto};
use tidegate_stacks::quinn::stack;

use crate::common::*;

/// A way of 10 ms in each direction.
const DELAY: Time = Time::from_ns(10_000_000);
const SIZE: u64 = 300_000;

/// A datagram: when it was sent, whether the client has sent it, and its bytes.
type Sent = (Time, bool, Vec<u8>);

/// Everything that the two ends of one download send each other over a way without limits.
fn conversation(crypto: QuicCrypto, seed: u64) -> Vec<Sent> {
    let transfer = Transfer {
        start: Time::ZERO,
        size: Some(SIZE),
        download: true,
        objects: false,
        datagram: 1472,
        seed,
    };
    let ends = stack(QuicControl::NewReno, crypto, 1472)(&transfer);
    let mut hosts = [ends.server, ends.client];
    let (mut sent, mut delivered) = (Vec::<Sent>::new(), 0);
    let mut now = Time::ZERO;
    let mut read = 0;
    let mut due = [Time::NEVER, Time::ZERO];
    loop {
        for (side, host) in hosts.iter_mut().enumerate() {
            let mut has_turn = due[side] <= now;
            for (at, client, bytes) in &sent[delivered..] {
                if *at + DELAY == now && usize::from(*client) != side {
                    host.receive(now, bytes, Default::default());
                    has_turn = true;
                }
            }
            if has_turn {
                read = host.poll(now, Order::GoOn).delivered.max(read);
            }
        }
        while sent.get(delivered).is_some_and(|(at, ..)| *at + DELAY <= now) {
            delivered += 1;
        }
        for (side, host) in hosts.iter_mut().enumerate() {
            let mut bytes = Vec::new();
            while host.transmit(now, &mut bytes).is_some() {
                sent.push((now, side == 1, std::mem::take(&mut bytes)));
            }
            due[side] = host.wake();
        }
        let next = sent.get(delivered).map_or(Time::NEVER, |(at, ..)| *at + DELAY);
        let next = next.min(due[0]).min(due[1]);
        if next == Time::NEVER {
            break;
        }
        now = next.max(now + Time::from_ns(1));
    }
    assert_eq!(read, SIZE);
    assert_eq!(hosts[1].poll(now, Order::GoOn).phase, Phase::Over);
    sent
}

/// Bytes of zeros in a row that show the contents: data is nothing but zeros.
fn shows_its_contents((_, _, bytes): &Sent) -> bool {
    bytes.windows(64).any(|part| part.iter().all(|&byte| byte == 0))
}

/// The same bytes at the same times: run after run, and while another thread has a run of its own.
/// Another seed draws other keys.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let others = [1, 1, 2]
        .map(|seed| std::thread::spawn(move || conversation(QuicCrypto::Rustls, seed)))
        .map(|thread| thread.join().expect("it comes to an end"));
    let own = conversation(QuicCrypto::Rustls, 1);
    assert!(own == others[0] && own == others[1]);
    for (a, b) in own.iter().zip(&others[2]) {
        assert_ne!(a.2, b.2, "another seed, other keys");
    }
}

/// With TLS no packet shows what it carries; without, nearly all of the sender do. The Initials
/// can be told in both, and no byte of a random source of the machine enters: rustls has none.
#[test]
fn packets_are_protected() {
    let share = |crypto| {
        let sent = conversation(crypto, 1);
        assert!(Initial::read(&sent[0].2).is_some());
        let data = sent.iter().filter(|(_, client, bytes)| !client && bytes.len() > 1400);
        let (open, all) = data.fold((0, 0), |(open, all), each| {
            (open + u32::from(shows_its_contents(each)), all + 1)
        });
        (open, all)
    };
    let (open, all) = share(QuicCrypto::Null);
    assert!(all > 200 && open == all, "{open} of {all}");
    assert_eq!(share(QuicCrypto::Rustls).0, 0);
}

/// What a run's results depend on, times and lengths of packets, is the same with and without
/// secrets: the messages of the null session have the lengths of those of rustls.
#[test]
fn packets_are_as_long_and_as_late_as_without_secrets() {
    let [null, rustls] = [QuicCrypto::Null, QuicCrypto::Rustls].map(|crypto| {
        let sent = conversation(crypto, 1);
        sent.iter().map(|(at, client, bytes)| (*at, *client, bytes.len())).collect::<Vec<_>>()
    });
    assert_eq!(null, rustls);
}

/// A whole simulation with losses and many connections: the same columns twice, once while
/// another one runs.
#[test]
fn an_overload_is_the_same_each_time() {
    let settings: &[(&str, &str)] = &[
        ("duration", "4s"),
        ("topology.dumbbell.pairs", "3"),
        ("topology.dumbbell.bottleneck.delay", "8ms"),
        ("topology.dumbbell.bottleneck.buffer", "40packets"),
        ("topology.dumbbell.bottleneck.loss", "0.01"),
        ("traffic.one.arrivals", "{ uniform = 60, within = \"3s\" }"),
        ("traffic.one.size", "60kB"),
        ("traffic.one.direction", "download"),
        ("traffic.one.transport.quic.crypto", "rustls"),
    ];
    let other = std::thread::spawn(|| bits(&run(LINK, settings)));
    let results = run(LINK, settings);
    assert_eq!(Some(bits(&results)), other.join().ok());
    let done = column(&results.flows, "data_done_s").iter().filter(|at| !at.is_nan()).count();
    assert!(done > 20, "{done}");
}
