//! The tables of the format, byte by byte, then any bytes at all.

use proptest::prelude::*;

use super::message::{FilterRequest, FlowMessage, Hop, TAG, Trace};
use super::*;

fn address(last: u8, port: u16) -> Address {
    Address { ip: [127, 0, 0, last], port }
}

fn header() -> Header {
    Header {
        active: true,
        source: address(1, 0x1234),
        destination: address(2, 0x2345),
        previous: address(3, 0x3456),
        service: 1,
        number: 0x0102_0304,
        life_ms: 10_000,
    }
}

// Written out by hand from the table of the format.
const BYTES: [u8; 37] = [
    0x74, 0x67, 1, 1, 127, 0, 0, 1, 0x12, 0x34, 127, 0, 0, 2, 0x23, 0x45, 127, 0, 0, 3, 0x34, 0x56,
    0, 1, 1, 2, 3, 4, 0, 0, 0x27, 0x10, 0, 3, 7, 8, 9,
];

#[test]
fn is_written_as_the_table_says() {
    let mut out = Vec::new();
    encode(&header(), &[7, 8, 9], &mut out).expect("it fits");
    assert_eq!(out, BYTES);
    assert_eq!(decode(&BYTES), Ok(Datagram { header: header(), payload: &[7, 8, 9] }));
}

#[test]
fn what_is_none_is_refused_with_the_reason() {
    let with = |at: usize, value: u8| {
        let mut bytes = BYTES;
        bytes[at] = value;
        decode(&bytes).map(|_| ()).expect_err("refused")
    };
    assert_eq!(with(0, 0), FormatError::Magic);
    assert_eq!(with(2, 2), FormatError::Version(2));
    assert_eq!(with(3, 2), FormatError::Field);
    // passive, but it asks for a service
    assert_eq!(with(3, 0), FormatError::Field);
    assert_eq!(with(33, 4), FormatError::Length { said: 4, have: 3 });
    assert_eq!(decode(&BYTES[..36]), Err(FormatError::Length { said: 3, have: 2 }));
    assert_eq!(decode(&BYTES[..33]), Err(FormatError::Cut { have: 33, needed: 34 }));
    let long = vec![0; MOST_PAYLOAD + 1];
    let refused = encode(&header(), &long, &mut Vec::new());
    assert_eq!(refused, Err(FormatError::TooLong(MOST_PAYLOAD + 1)));
}

// lgc, 4.1: PrevNode is rewritten at every hop, and the life shrinks; the rest stays, and so does what is signed.
#[test]
fn a_hop_changes_the_previous_node_and_the_life_alone() {
    let mut bytes = BYTES;
    forward(&mut bytes, address(9, 9), 9_999);
    let read = decode(&bytes).expect("still one");
    assert_eq!(read.header, Header { previous: address(9, 9), life_ms: 9_999, ..header() });
    assert_eq!(signed_part(&read.header, &[1]), signed_part(&header(), &[1]));
}

#[test]
fn whatever_else_changes_is_not_what_was_signed() {
    let signed = signed_part(&header(), &[1, 2]);
    let others = [
        Header { source: address(1, 1), ..header() },
        Header { destination: address(1, 1), ..header() },
        Header { service: 2, ..header() },
        Header { number: 1, ..header() },
        Header { active: false, ..header() },
    ];
    assert!(others.iter().all(|other| signed_part(other, &[1, 2]) != signed));
    assert_ne!(signed_part(&header(), &[1, 3]), signed);
}

#[test]
fn a_node_is_its_address_and_port() {
    let node = Node::from(address(1, 0x1234));
    assert_eq!(node, Node(0x7f00_0001_1234));
    assert_eq!(Address::from(node), address(1, 0x1234));
    assert_eq!("127.0.0.1:4660".parse(), Ok(address(1, 0x1234)));
    assert!("localhost:1".parse::<Address>().is_err());
}

prop_compose! {
    fn any_address()(ip in any::<[u8; 4]>(), port in any::<u16>()) -> Address {
        Address { ip, port }
    }
}

prop_compose! {
    fn any_header()(
        active in any::<bool>(), ends in any::<[[u8; 6]; 3]>(), service in any::<u16>(),
        number in any::<u32>(), life_ms in any::<u32>(),
    ) -> Header {
        let [source, destination, previous] = ends.map(Address::of);
        let service = if active { service } else { 0 };
        Header { active, source, destination, previous, service, number, life_ms }
    }
}

prop_compose! {
    fn any_hop()(node in any_address(), at_us in 0u64..1 << 48, queue_packets in any::<u16>()) -> Hop {
        Hop { node, at_us, queue_packets }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_written_is_read(header in any_header(), payload in prop::collection::vec(any::<u8>(), 0..MOST_PAYLOAD)) {
        let mut out = Vec::new();
        encode(&header, &payload, &mut out).expect("it fits");
        prop_assert_eq!(decode(&out), Ok(Datagram { header, payload: &payload }));
    }

    // whatever is taken for a datagram is written back to the very same bytes: no two spellings of one
    #[test]
    fn any_bytes_are_refused_or_mean_one_thing(mut bytes in prop::collection::vec(any::<u8>(), 0..120), head in any::<bool>()) {
        if head && bytes.len() >= HEADER {
            bytes[..3].copy_from_slice(&[0x74, 0x67, 1]);
            bytes[3] &= 1;
            let rest = (bytes.len() - HEADER) as u16;
            bytes[32..34].copy_from_slice(&rest.to_be_bytes());
        }
        if let Ok(read) = decode(&bytes) {
            let mut out = Vec::new();
            encode(&read.header, read.payload, &mut out).expect("it was one");
            prop_assert_eq!(out, bytes);
        }
    }

    #[test]
    fn messages_are_read_as_written(
        origin in any_address(), lasts_ms in any::<u32>(), sequence in any::<u64>(), tag in any::<[u8; TAG]>(),
        number in any::<u32>(), answer in any::<bool>(), size in 0usize..600, every_hop in any::<bool>(),
        hops in prop::collection::vec(any_hop(), 0..message::MOST_HOPS),
    ) {
        let filter = FilterRequest { origin, lasts_ms, sequence };
        let mut payload = filter.encode();
        payload.extend_from_slice(&tag);
        prop_assert_eq!(FilterRequest::decode(&payload), Ok((filter, &payload[..18], tag)));
        for segment in [FlowMessage::Data { number, answer }, FlowMessage::Ack { next: number }] {
            let payload = segment.encode(size);
            prop_assert_eq!(payload.len(), size.max(5));
            prop_assert_eq!(FlowMessage::decode(&payload), Ok(segment));
        }
        let trace = Trace { every_hop, hops };
        prop_assert_eq!(Trace::decode(&trace.encode()), Ok(trace));
    }

    #[test]
    fn any_payload_is_refused_or_means_one_thing(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0u8..6) {
        if let Ok((filter, signed, tag)) = FilterRequest::decode(&bytes) {
            prop_assert_eq!(&filter.encode(), signed);
            prop_assert_eq!(&bytes[18..], tag);
        }
        let mut trace = vec![0, count];
        trace.extend_from_slice(&bytes);
        for bytes in [bytes, trace] {
            if let Ok(trace) = Trace::decode(&bytes) {
                prop_assert_eq!(trace.encode(), &bytes[..]);
            }
            if let Ok(segment) = FlowMessage::decode(&bytes) {
                prop_assert_eq!(&segment.encode(bytes.len())[..5], &bytes[..5]);
            }
        }
    }
}
