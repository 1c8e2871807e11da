//! Files that are no captures, and captures that are damaged: said, never a panic.

use crate::common::*;
use pcap_file::{Endianness, TsResolution};
use proptest::prelude::*;
use tidegate_capture::Direction::Download;
use tidegate_capture::{Error, Flows, MAX_CONNECTIONS, Reader, Reason, read};

#[test]
fn what_is_no_capture_is_told_by_its_first_bytes() {
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(message(b"start_s,size_bytes\n").contains("73 74 61 72 (\"star\")"));
    assert!(message(&[0x1f, 0x8b, 8, 0, 0, 0]).contains("1f 8b 08 00"));
    // a variant of pcap with longer packet headers
    assert!(message(&[0x34, 0xcd, 0xb2, 0xa1, 2, 0, 4, 0]).contains("34 cd b2 a1"));
    assert!(message(b"PA").contains("50 41"));
    assert!(message(&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4]).contains("0a 0d 0d 0a"));
    assert_eq!(read(&[]).unwrap_err(), Error::Empty);
    let file = usual(&frames(&download(0.0)));
    for length in 1..24 {
        assert_eq!(read(&file[..length]).unwrap_err(), Error::NoHeader, "{length} B");
    }
}

#[test]
fn a_capture_without_tcp_says_what_it_has() {
    assert_eq!(
        read(&usual(&[])).unwrap_err().to_string(),
        "there is neither TCP nor QUIC in this capture: 0 packets"
    );
    let mut frame = download(0.0)[0].frame();
    frame.data[23] = 17;
    let error = read(&usual(&[frame.clone(), frame])).unwrap_err();
    assert_eq!(error, Error::NoConnections("2 packets; packet of UDP: 2".to_owned()));
}

#[test]
fn what_was_read_before_the_end_of_a_cut_capture_is_kept() {
    let frames = frames(&download(0.0));
    let file = usual(&frames);
    let mut ends = vec![24];
    for frame in &frames {
        ends.push(ends[ends.len() - 1] + 16 + frame.data.len());
    }
    for length in ends[1]..file.len() {
        let found = read(&file[..length]).unwrap();
        let whole = ends.iter().filter(|&&end| end <= length).count() - 1;
        assert_eq!(found.packets, whole as u64, "{length} B");
        assert_eq!(found.broken.is_none(), ends.contains(&length), "{length} B");
        let broken = skipped(&found).contains(&(Reason::Broken, 1));
        assert_eq!(broken, found.broken.is_some());
    }
    let found = read(&file[..ends[9] + 20]).unwrap();
    assert_eq!(found.flows, [flow(0.0, Download, 5000, 100, true)]);
    let said = found.broken.unwrap();
    let place = format!("at byte {}, after 9 packets", ends[9]);
    assert!(said.contains("cut off") && said.contains(&place), "{said}");
}

#[test]
fn a_damaged_record_ends_the_reading() {
    let frames = frames(&download(0.0));
    let mut file = usual(&frames);
    let place: usize = 24 + frames[..9].iter().map(|frame| 16 + frame.data.len()).sum::<usize>();
    file[place + 8..place + 12].copy_from_slice(&[0xff; 4]);
    let found = read(&file).unwrap();
    assert_eq!(found.flows, [flow(0.0, Download, 5000, 100, true)]);
    let said = found.broken.unwrap();
    assert!(said.contains(&format!("at byte {place}, after 9 packets")), "{said}");
    // no more is wanted then
    let mut reader = Reader::new();
    assert!(!reader.feed(&file).unwrap());
    assert!(!reader.feed(&file).unwrap());
    assert_eq!(reader.finish().unwrap().packets, 9);
}

#[test]
fn connections_beyond_the_most_are_skipped() {
    // each asks with one byte from another address or port; then all send another byte
    let mut reader = Reader::new();
    let header = pcap(101, Endianness::Little, TsResolution::NanoSecond, &[]);
    reader.feed(&header).unwrap();
    let extra = 10u32;
    for round in 0..2u32 {
        let mut piece = Vec::new();
        let segment = tcp(0.0, Client, "A", 1000 + round, 9000, 1);
        let server = ([192, 0, 2, 2], 80);
        let mut packet = segment.ip_between(([10, 0, 0, 0], 1024), server);
        for number in 0..MAX_CONNECTIONS as u32 + extra {
            packet[12..16].copy_from_slice(&(0x0a00_0000 + number / 50_000).to_be_bytes());
            packet[20..22].copy_from_slice(&((1024 + number % 50_000) as u16).to_be_bytes());
            let length = packet.len() as u32;
            let record = [0, number, length, length].map(u32::to_le_bytes).concat();
            piece.extend_from_slice(&record);
            piece.extend_from_slice(&packet);
            if piece.len() > 1 << 20 {
                assert!(reader.feed(&piece).unwrap());
                piece.clear();
            }
        }
        assert!(reader.feed(&piece).unwrap());
    }
    let found = reader.finish().unwrap();
    assert_eq!(found.flows.len(), MAX_CONNECTIONS);
    assert!(found.flows.iter().all(|flow| flow.size_bytes == 2));
    assert_eq!(skipped(&found), [(Reason::TooMany, 2 * u64::from(extra))]);
}

/// What must hold of whatever was read, beyond not to panic.
fn sound(found: &Flows) -> Result<(), TestCaseError> {
    // a packet adds the largest window at most, in data and by its acknowledgement
    let most = found.packets.saturating_mul((1 << 30) + (1 << 20)).saturating_mul(2);
    for flow in &found.flows {
        prop_assert!(flow.size_bytes >= 1 && flow.size_bytes <= most, "{flow:?}");
        prop_assert!(flow.other_bytes <= flow.size_bytes, "{flow:?}");
        prop_assert!(flow.start_ns <= found.span_ns, "{flow:?}");
    }
    prop_assert!(found.flows.is_sorted_by_key(|flow| flow.start_ns));
    prop_assert!(found.flows.len() as u64 <= found.packets);
    Ok(())
}

fn captures() -> impl Strategy<Value = Vec<u8>> {
    let segment = (
        0u32..100,
        any::<bool>(),
        prop::sample::select(vec!["S", "SA", "A", "A", "A", "FA", "R", "RA", ""]),
        prop_oneof![0u32..5000, any::<u32>()],
        prop_oneof![0u32..5000, any::<u32>()],
        0usize..200,
    )
        .prop_map(|(ms, client, flags, sequence, ack, data)| {
            let from = if client { Client } else { Server };
            tcp(f64::from(ms) / 1e3, from, flags, sequence, ack, data)
        });
    let endianness = prop::sample::select(vec![Endianness::Big, Endianness::Little]);
    (prop::collection::vec(segment, 0..30), endianness).prop_map(|(segments, endianness)| {
        pcap(1, endianness, TsResolution::MicroSecond, &frames(&segments))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::inputs(60_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_segments_make_sound_flows(file in captures()) {
        if let Ok(found) = read(&file) {
            sound(&found)?;
            prop_assert_eq!(found.broken, None);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        magic in prop::sample::select(vec![
            &[0xd4u8, 0xc3, 0xb2, 0xa1][..], &[0xa1, 0xb2, 0x3c, 0x4d], &[],
            &[10, 13, 13, 10, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
              255, 255, 255, 255, 255, 255, 255, 255, 28, 0, 0, 0],
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        if let Ok(found) = read(&[magic, &bytes].concat()) {
            sound(&found)?;
        }
    }

    #[test]
    fn a_damaged_capture_is_read_or_refused(
        mut file in captures(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        for (place, byte) in damage {
            let place = place.index(file.len());
            file[place] = byte;
        }
        for length in [file.len(), cut.index(file.len())] {
            if let Ok(found) = read(&file[..length]) {
                sound(&found)?;
            }
        }
    }

    #[test]
    fn the_pieces_that_a_file_comes_in_do_not_matter(
        file in captures(),
        pieces in prop::collection::vec(1usize..200, 1..20),
    ) {
        let mut reader = Reader::new();
        let mut rest = file.as_slice();
        for &length in pieces.iter().cycle() {
            let (piece, others) = rest.split_at(length.min(rest.len()));
            prop_assert!(reader.feed(piece).unwrap());
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(reader.finish(), read(&file));
    }
}
