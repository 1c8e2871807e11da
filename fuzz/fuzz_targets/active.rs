//! Any bytes as a datagram of an active network: refused, or read and written back to the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::active::message::{FilterRequest, FlowMessage, Trace};
use tidegate_core::active::{HEADER, decode, encode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = decode(bytes) {
        let mut out = Vec::new();
        encode(&read.header, read.payload, &mut out).expect("what was read can be written");
        assert_eq!(out, bytes);
    }
    // the payloads, whether or not a header stands before them
    for payload in [bytes, bytes.get(HEADER..).unwrap_or_default()] {
        if let Ok((filter, signed, tag)) = FilterRequest::decode(payload) {
            assert_eq!(filter.encode(), signed);
            assert_eq!(payload.len(), signed.len() + tag.len());
        }
        if let Ok(trace) = Trace::decode(payload) {
            assert_eq!(trace.encode(), payload);
        }
        if let Ok(segment) = FlowMessage::decode(payload) {
            assert_eq!(segment.encode(payload.len())[..5], payload[..5]);
        }
    }
});
