//! Any bytes as a packet capture: read or refused, and the pieces that they come in do not matter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_capture::{Reader, read};

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes);
    if let Ok(found) = &whole {
        // a packet adds the largest window at most, by its data and by what it acknowledges
        let most = found.packets * 2 * ((1 << 30) + (1 << 20));
        for flow in &found.flows {
            assert!(flow.size_bytes >= 1 && flow.size_bytes <= most);
            assert!(flow.other_bytes <= flow.size_bytes && flow.start_ns <= found.span_ns);
        }
        assert!(found.flows.is_sorted_by_key(|flow| flow.start_ns));
    }
    let mut reader = Reader::new();
    for piece in bytes.chunks(41) {
        match reader.feed(piece) {
            Ok(true) => {}
            Ok(false) => break,
            // that something is no capture may be known before all of it is there
            Err(_) => return assert!(whole.is_err()),
        }
    }
    assert_eq!(reader.finish().is_ok(), whole.is_ok());
});
