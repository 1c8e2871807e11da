//! What counts as a connection, and what it carried. Every expected number is
//! worked out by hand from the segments of the test.

use crate::common::*;
use tidegate_capture::Direction::{Download, Upload};
use tidegate_capture::{CapturedFlow, Flows, Reason, read};

fn flows_of(segments: &[Tcp]) -> Flows {
    read(&usual(&frames(segments))).unwrap()
}

fn only(segments: &[Tcp]) -> CapturedFlow {
    let found = flows_of(segments);
    assert_eq!(found.flows.len(), 1, "{found:?}");
    found.flows[0].clone()
}

#[test]
fn a_download_is_what_the_server_sent() {
    // 1448 + 1448 + 1448 + 656 B from the server, 100 B from the client
    let found = flows_of(&download(7.0));
    assert_eq!(found.flows, [flow(0.0, Download, 5000, 100, true)]);
    assert_eq!(skipped(&found), []);
    assert_eq!(found.packets, 12);
    assert_eq!(found.span_ns, 70_000_000);
    assert_eq!(found.broken, None);
}

#[test]
fn an_upload_is_what_the_client_sent() {
    let segments = [
        tcp(0.0, Client, "S", 5, 0, 0),
        tcp(0.1, Server, "SA", 70, 6, 0),
        tcp(0.2, Client, "A", 6, 71, 1000),
        tcp(0.3, Server, "A", 71, 1006, 20),
        tcp(0.4, Client, "FA", 1006, 91, 500),
        tcp(0.5, Server, "FA", 91, 1507, 0),
        tcp(0.6, Client, "A", 1507, 92, 0),
    ];
    assert_eq!(only(&segments), flow(0.0, Upload, 1500, 20, true));
}

#[test]
fn the_client_is_who_sent_the_syn_even_from_the_lower_port() {
    // active FTP: the server calls from port 20
    let mut segments = download(0.0);
    for segment in &mut segments {
        segment.from = if segment.from == Client { Server } else { Client };
    }
    let flow = only(&segments);
    assert_eq!((flow.client, flow.server), (end(SERVER), end(CLIENT)));
    assert_eq!((flow.direction, flow.size_bytes), (Download, 5000));
}

#[test]
fn starts_count_from_the_first_packet_of_the_capture() {
    let mut frames = frames(&download(12.5));
    // a packet that is no TCP, 2.5 s before
    let udp = etherparse::PacketBuilder::ipv4([192, 0, 2, 9], [192, 0, 2, 2], 64).udp(53, 53);
    let mut bytes = Vec::new();
    udp.write(&mut bytes, &[0; 30]).unwrap();
    frames.insert(0, ethernet(10_000_000_000, &bytes));
    let found = read(&usual(&frames)).unwrap();
    assert_eq!(found.flows, [flow(2.5, Download, 5000, 100, true)]);
    assert_eq!(skipped(&found), [(Reason::Udp, 1)]);
}

#[test]
fn what_is_sent_again_counts_once() {
    let mut segments = download(0.0);
    // the first two segments of data and the last one again, in another order
    for (place, at_s) in [(5, 0.052), (4, 0.053), (8, 0.054), (4, 0.055)] {
        segments.insert(segments.len() - 3, Tcp { at_s, ..segments[place] });
    }
    // and two segments as one
    segments.insert(segments.len() - 3, tcp(0.056, Server, "A", 9001, 1101, 2896));
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn a_syn_that_is_tried_again_opens_one_connection_at_its_first_try() {
    let mut segments = download(7.0);
    for (place, at_s) in [0.0, 1.0, 3.0].into_iter().enumerate() {
        segments.insert(place, Tcp { at_s, ..segments[place] });
    }
    // an answer that is sent twice as well
    segments.insert(5, segments[4]);
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn a_fin_adds_no_byte_however_often_it_is_sent() {
    let mut segments = download(0.0);
    let last = segments.len() - 3;
    segments.insert(last, tcp(0.058, Server, "FA", 14001, 1101, 0));
    segments.insert(last, tcp(0.059, Server, "FA", 13345, 1101, 656));
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn a_fin_that_the_capture_missed_adds_no_byte_either() {
    let mut segments = download(0.0);
    // the server's FIN goes by unseen, its acknowledgement (14002) does not
    segments[8].flags = "A";
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn without_the_end_of_its_data_a_connection_is_not_closed() {
    let segments = &download(0.0)[..8];
    // 3 x 1448 B so far
    assert_eq!(only(segments), flow(0.0, Download, 4344, 100, false));
    // the end that only asked has closed its side: the other may send more
    let mut half = segments.to_vec();
    half.push(tcp(0.06, Client, "FA", 1101, 13345, 0));
    assert_eq!(only(&half), flow(0.0, Download, 4344, 100, false));
}

#[test]
fn a_reset_closes_a_connection() {
    let mut segments = download(0.0)[..8].to_vec();
    // as a closing host sends it: with a number of its own
    segments.push(tcp(0.06, Client, "R", 1101, 0, 0));
    segments.push(tcp(0.07, Client, "RA", 0, 3_000_000_000, 0));
    assert_eq!(only(&segments), flow(0.0, Download, 4344, 100, true));
}

#[test]
fn connections_without_data_are_skipped() {
    let refused = [tcp(0.0, Client, "S", 1, 0, 0), tcp(0.1, Server, "RA", 0, 2, 0)];
    let unanswered = [tcp(0.0, Client, "S", 1, 0, 0), tcp(1.0, Client, "S", 1, 0, 0)];
    let idle = [
        tcp(0.0, Client, "S", 1, 0, 0),
        tcp(0.1, Server, "SA", 8, 2, 0),
        tcp(0.2, Client, "A", 2, 9, 0),
        tcp(0.3, Client, "FA", 2, 9, 0),
        tcp(0.4, Server, "FA", 9, 3, 0),
        tcp(0.5, Client, "A", 3, 10, 0),
    ];
    for segments in [&refused[..], &unanswered, &idle] {
        let found = flows_of(segments);
        assert_eq!((found.flows.len(), &skipped(&found)[..]), (0, &[(Reason::NoData, 1)][..]));
    }
    // a reset that answers nothing seen is no connection
    let found = flows_of(&[tcp(0.0, Server, "R", 1, 0, 0)]);
    assert_eq!((found.flows.len(), skipped(&found).len()), (0, 0));
}

#[test]
fn a_connection_that_was_open_before_counts_from_its_first_segment_seen() {
    // from the first acknowledgement, from the second segment of data, and from the middle of the data
    for (from, size) in [(2, 5000), (5, 3552), (7, 2104)] {
        let segments = &download(0.0)[from..];
        let expected = flow(0.0, Download, size, if from == 2 { 100 } else { 0 }, true);
        assert_eq!(only(segments), expected, "from segment {from} on");
    }
}

#[test]
fn without_a_syn_the_lower_port_is_the_server() {
    let segments = &download(0.0)[4..];
    let turned: Vec<_> = segments
        .iter()
        .map(|segment| ethernet(segment.ns(), &segment.ip_between(([192, 0, 2, 1], 79), SERVER)))
        .collect();
    let found = read(&usual(&turned)).unwrap();
    // the end that sends most is the one at the higher port now: the client
    assert_eq!((found.flows[0].direction, found.flows[0].size_bytes), (Upload, 5000));
    assert_eq!(found.flows[0].client, end(SERVER));
}

#[test]
fn a_syn_ack_alone_tells_the_client() {
    let segments = download(0.0);
    assert_eq!(only(&segments[1..]), flow(0.0, Download, 5000, 100, true));
    // one that overtook its SYN in the capture
    let mut swapped = segments;
    swapped.swap(0, 1);
    (swapped[0].at_s, swapped[1].at_s) = (0.0, 0.0);
    assert_eq!(only(&swapped), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn sequence_numbers_wrap() {
    let mut segments = download(0.0);
    for segment in &mut segments {
        // the server's SYN is 2000 numbers before the wrap, the client's 50
        let (client, server) = (u32::MAX - 49 - 1000, u32::MAX - 1999 - 9000);
        let (own, other) = if segment.from == Client { (client, server) } else { (server, client) };
        segment.sequence = segment.sequence.wrapping_add(own);
        segment.ack = segment.ack.wrapping_add(other);
    }
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn more_than_four_gibibytes_are_counted() {
    // nine acknowledgements, each half a gibibyte further: 4.5 GiB
    const HALF: u32 = 1 << 29;
    let mut segments = download(0.0)[..4].to_vec();
    for step in 1..=9u32 {
        let ack = 9001u32.wrapping_add(step.wrapping_mul(HALF));
        segments.push(tcp(f64::from(step), Client, "A", 1101, ack, 0));
    }
    assert_eq!(only(&segments), flow(0.0, Download, 9 << 29, 100, false));
}

#[test]
fn what_the_capture_missed_is_told_by_acknowledgements() {
    let mut segments = download(0.0);
    segments.remove(7);
    segments.remove(4);
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
    // one way only: the server's packets took another route
    let up: Vec<Tcp> = segments.into_iter().filter(|segment| segment.from == Client).collect();
    // nobody saw the FIN: its number is the last one that the client acknowledged, closing too
    assert_eq!(only(&up), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn a_fin_that_the_capture_missed_with_the_last_data_adds_no_byte() {
    // 656 B with the FIN go by unseen; all is acknowledged (14002) before the client closes
    let mut segments = download(0.0);
    segments.remove(8);
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
    // the client closes first, after all data (14001); the FIN's acknowledgement is one more
    segments[8] = tcp(0.06, Client, "FA", 1101, 14001, 0);
    segments[9] = tcp(0.08, Client, "A", 1102, 14002, 0);
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn an_end_that_closes_long_before_the_other_tells_no_fin() {
    // it closes after 1448 B of 4344 B, and acknowledges the rest, of which the last was unseen
    let mut segments = download(0.0)[..7].to_vec();
    segments[6] = tcp(0.04, Client, "FA", 1101, 10449, 0);
    segments.push(tcp(0.06, Client, "A", 1102, 13345, 0));
    assert_eq!(only(&segments), flow(0.0, Download, 4344, 100, false));
}

#[test]
fn two_connections_between_the_same_ports_are_two_flows() {
    let mut segments = download(0.0);
    // the second time the client starts at another number, the server at a lower one
    let second = download(100.0).into_iter().map(|mut segment| {
        let (client, server) = (77_777, u32::MAX - 5000);
        let (own, other) = if segment.from == Client { (client, server) } else { (server, client) };
        segment.sequence = segment.sequence.wrapping_add(own);
        segment.ack = segment.ack.wrapping_add(other);
        segment
    });
    segments.extend(second);
    let found = flows_of(&segments);
    let twice = [flow(0.0, Download, 5000, 100, true), flow(100.0, Download, 5000, 100, true)];
    assert_eq!((&found.flows[..], &skipped(&found)[..]), (&twice[..], &[][..]));
}

#[test]
fn a_try_that_nobody_answered_is_not_part_of_the_next_one() {
    let mut segments = vec![tcp(0.0, Client, "S", 77, 0, 0), tcp(1.0, Client, "S", 77, 0, 0)];
    segments.extend(download(5.0));
    let found = flows_of(&segments);
    assert_eq!(found.flows, [flow(5.0, Download, 5000, 100, true)]);
    assert_eq!(skipped(&found), [(Reason::NoData, 1)]);
}

#[test]
fn a_server_that_answers_anew_is_followed_from_its_latest_answer() {
    let mut segments = download(0.0);
    // a SYN cookie of another minute
    segments.insert(1, tcp(0.005, Server, "SA", 3_000_000_000, 1001, 0));
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn probes_that_keep_a_connection_alive_add_nothing() {
    let mut segments = download(0.0)[..10].to_vec();
    segments.push(tcp(60.0, Client, "A", 1100, 14002, 0));
    segments.push(tcp(60.1, Client, "A", 1100, 14002, 1));
    segments.push(tcp(60.2, Server, "A", 14002, 1101, 0));
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
    // nor do they in a connection of which nothing else is seen
    let found =
        flows_of(&[tcp(0.0, Client, "A", 1100, 14002, 0), tcp(0.1, Server, "A", 14002, 1101, 0)]);
    assert_eq!((found.flows.len(), &skipped(&found)[..]), (0, &[(Reason::NoData, 1)][..]));
}

#[test]
fn data_in_a_syn_counts_once() {
    // TCP Fast Open: 100 B ride on the SYN; a server that does not take them is sent them again
    let mut segments = download(0.0);
    segments[0].data = 100;
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
    segments[1].ack = 1101;
    segments.remove(3);
    assert_eq!(only(&segments), flow(0.0, Download, 5000, 100, true));
}

#[test]
fn a_packet_no_window_reaches_changes_nothing() {
    let mut segments = download(0.0);
    // 2^30 is the largest window: one number further cannot be
    segments.insert(8, tcp(0.0505, Server, "A", 13345 + (1 << 30) + 1, 1101, 1000));
    segments.insert(8, tcp(0.0505, Client, "A", 1101, 13345 + (1 << 30) + 1, 0));
    let found = flows_of(&segments);
    assert_eq!(found.flows, [flow(0.0, Download, 5000, 100, true)]);
    assert_eq!(skipped(&found), [(Reason::OutsideWindow, 2)]);
}

#[test]
fn flows_come_in_the_order_of_their_starts() {
    let ports = [40003u16, 40001, 40002];
    let mut all = Vec::new();
    for (place, port) in ports.into_iter().enumerate() {
        for segment in download(place as f64 * 0.005) {
            let ip = segment.ip_between(([192, 0, 2, 1], port), SERVER);
            all.push(ethernet(segment.ns(), &ip));
        }
    }
    all.sort_by_key(|frame| frame.ns);
    let found = read(&usual(&all)).unwrap();
    let got: Vec<u16> = found.flows.iter().map(|flow| flow.client.port()).collect();
    assert_eq!(got, ports);
    assert!(found.flows.iter().all(|flow| flow.size_bytes == 5000 && flow.other_bytes == 100));
}

#[test]
fn times_count_from_the_earliest_packet_wherever_it_stands_in_the_capture() {
    // two interfaces written one after the other: downloads at 10.5 s, and at 10 s behind it
    let mut written = frames(&download(10.5));
    for mut frame in frames(&download(10.0)) {
        // another client: the last byte of its address, and no checksum is looked at
        for at in [29, 33] {
            if frame.data[at] == 1 {
                frame.data[at] = 7;
            }
        }
        written.push(frame);
    }
    let found = read(&usual(&written)).unwrap();
    let starts: Vec<u64> = found.flows.iter().map(|flow| flow.start_ns).collect();
    assert_eq!(starts, [0, 500_000_000]);
    // from 10 s to the last packet of the download at 10.5 s, which takes 70 ms
    assert_eq!(found.span_ns, 570_000_000);
}

#[test]
fn a_connection_starts_with_its_earliest_packet() {
    let mut written = frames(&download(10.0));
    let syn = written.remove(0);
    written.push(syn);
    assert_eq!(read(&usual(&written)).unwrap().flows, [flow(0.0, Download, 5000, 100, true)]);
}

/// RFC 9293, 3.8.4: a keep-alive has the number before the next one, and no data.
#[test]
fn a_keep_alive_before_a_fin_is_no_byte() {
    let segments = [
        tcp(0.0, Server, "A", 999, 500, 0),
        tcp(0.1, Client, "A", 500, 1000, 0),
        tcp(0.2, Server, "FA", 1000, 500, 0),
        tcp(0.3, Client, "FA", 500, 1001, 0),
        tcp(0.4, Server, "A", 1001, 501, 0),
    ];
    let found = flows_of(&segments);
    assert_eq!((found.flows.len(), &skipped(&found)[..]), (0, &[(Reason::NoData, 1)][..]));
}

#[test]
fn a_keep_alive_before_the_first_data_is_no_byte() {
    let segments = [
        tcp(0.0, Server, "A", 999, 500, 0),
        tcp(0.1, Client, "A", 500, 1000, 0),
        tcp(0.2, Server, "A", 1000, 500, 700),
        tcp(0.3, Client, "A", 500, 1700, 0),
        tcp(0.4, Server, "FA", 1700, 500, 0),
    ];
    assert_eq!(only(&segments).size_bytes, 700);
    // and of two numbers below, two bytes were missed by the capture
    let mut missed = segments;
    missed[0].sequence = 998;
    assert_eq!(only(&missed).size_bytes, 702);
}
