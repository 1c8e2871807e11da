//! Drills of real stacks: which end sends what, and when, over a path that a script makes.
//!
//! The scripts are in `drills`, where README.md has their form. They expect what an RFC asks for; where
//! a stack does something else they say so, and fail when it no longer does.

mod quic;
mod tcp;

use tidegate_core::drill::{self, Subject, WordReader};
use tidegate_model::scenario::{QuicControl, QuicCrypto};
use tidegate_stacks::{noq, quinn, smoltcp};

/// Bytes of a datagram, and of TCP's segment with its header.
const DATAGRAM: u16 = 1200;

const SCRIPTS: &[&str] = &[
    include_str!("drills/quic-opening.txt"),
    include_str!("drills/quic-acks.txt"),
    include_str!("drills/quic-losses.txt"),
    include_str!("drills/quic-window.txt"),
    include_str!("drills/quic-closing.txt"),
    include_str!("drills/tcp.txt"),
];

/// Packets of QUIC go without secrets, so that a script can say what is in them; `tls.rs` has that
/// they have the same times and lengths with TLS.
fn subject(name: &str) -> Option<Subject> {
    let (control, crypto) = (QuicControl::NewReno, QuicCrypto::Null);
    let stack = match name {
        "quinn" => quinn::stack(control, crypto, DATAGRAM),
        "noq" => noq::stack(control, crypto, DATAGRAM),
        "smoltcp" => smoltcp::stack(control, DATAGRAM),
        _ => return None,
    };
    let words: WordReader = match name {
        "smoltcp" => Box::new(tcp::words()),
        _ => Box::new(|_, datagram| quic::words(datagram)),
    };
    Some(Subject { stack, words })
}

/// RFC 9000, 9002, 9293, 6298 and 5681, section by section: each stack does what each situation
/// says of it.
#[test]
fn stacks_do_what_their_rfcs_ask_for_or_are_said_to_differ() {
    let wrong: Vec<String> =
        SCRIPTS.iter().filter_map(|script| drill::play(script, &mut subject).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.concat());
}
