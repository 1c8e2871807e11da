//! Any bytes as a packet at the gate: what the kernel's code reads of it does not depend on which
//! part is linear, and is what the simulator reads.
#![no_main]

use libfuzzer_sys::fuzz_target;

// of which the test uses more
#[allow(dead_code)]
#[path = "../../crates/gate/tests/reader/rules.rs"]
mod rules;

use rules::{SEEN, Seen};

unsafe extern "C" {
    fn read_packet(
        bytes: *const u8,
        length: u32,
        linear: u32,
        ethernet: bool,
        protocol: u16,
        seen: *mut [u8; SEEN],
    );
}

fn seen(bytes: &[u8], linear: usize, ethernet: bool, protocol: u16) -> Seen {
    let mut seen = [0; SEEN];
    // SAFETY: the bytes outlive the call, which writes as many as `struct seen` has
    unsafe {
        read_packet(
            bytes.as_ptr(),
            bytes.len() as u32,
            linear as u32,
            ethernet,
            protocol.to_be(),
            &mut seen,
        );
    }
    Seen::new(&seen)
}

fuzz_target!(|input: (u16, bool, bool, Vec<u8>)| {
    let (cut, ethernet, six, mut bytes) = input;
    bytes.truncate(65_536);
    let protocol = if six { 0x86dd } else { 0x0800 };
    let linear = usize::from(cut).min(bytes.len());
    let whole = seen(&bytes, bytes.len(), ethernet, protocol);
    assert_eq!(whole, seen(&bytes, linear, ethernet, protocol));
    if !ethernet && bytes.first().is_some_and(|first| first >> 4 == if six { 6 } else { 4 }) {
        whole.compare(&bytes);
    }
});
