//! Logs of flows, read by another implementation of qlog: the crate `qlog` of the project quiche.

use std::collections::BTreeMap;
use std::io::Cursor;

use ::qlog::events::EventData;
use ::qlog::events::quic::QuicFrame;
use ::qlog::reader::{Event, QlogSeqReader};
use tidegate_sim::Results;

use crate::common::*;

/// 10 Mbit/s and 40 ms of round trip, a buffer of half of it and some random losses.
const PATH: &str = r#"
    name = "a \"test\""
    duration = "20s"
    [topology.dumbbell]
    pairs = 2
    access = { rate = "100Mbit", delay = "1ms" }
    bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "17packets", loss = 0.002 }
    [traffic.one]
    arrivals = { at = ["1s"] }
    transport = { tcp = { profile = "linux" } }
    size = "5MB"
    [traffic.other]
    arrivals = { at = ["2s", "3s", "4s"] }
    transport = { tcp = { profile = "linux" } }
    size = "100kB"
"#;

/// What a log says.
#[derive(Default)]
struct Read {
    sent: Vec<f64>,
    received: usize,
    lost: usize,
    acked: BTreeMap<u64, f64>,
    cwnd: Vec<u64>,
    srtt: Vec<f32>,
    offsets: Vec<u64>,
    vantage: String,
}

fn read(log: &[u8]) -> Read {
    let mut reader = QlogSeqReader::new(Box::new(Cursor::new(log.to_vec()))).expect("a header");
    assert_eq!(reader.qlog.title.as_deref(), Some("a \"test\", one:0"));
    let vantage = reader.qlog.trace.vantage_point.clone().expect("somebody tells");
    let mut found = Read { vantage: format!("{:?}", vantage.ty), ..Read::default() };
    let records = log.split(|&byte| byte == 0x1E).count() - 2;
    let (mut read, mut last) = (0, 0.0);
    for event in reader.by_ref() {
        let Event::Qlog(event) = event else { panic!("not of the schema: {event:?}") };
        read += 1;
        assert!(event.time >= last, "{} behind {last}", event.time);
        last = event.time;
        match event.data {
            EventData::QuicPacketSent(packet) => {
                assert_eq!(packet.header.packet_number, Some(found.sent.len() as u64));
                found.sent.push(event.time);
                for frame in packet.frames.unwrap_or_default() {
                    let QuicFrame::Stream { offset, .. } = frame else { panic!("{frame:?}") };
                    found.offsets.extend(offset);
                }
            }
            EventData::QuicPacketReceived(packet) => {
                found.received += 1;
                for frame in packet.frames.unwrap_or_default() {
                    let QuicFrame::Ack { acked_ranges, .. } = frame else { panic!("{frame:?}") };
                    for range in acked_ranges.expect("it acknowledges something") {
                        for number in range.start..=range.end {
                            let again = found.acked.insert(number, event.time);
                            assert_eq!(again, None, "{number} is acknowledged twice");
                            assert!(found.sent[number as usize] < event.time, "{number}");
                        }
                    }
                }
            }
            EventData::QuicPacketLost(_) => found.lost += 1,
            EventData::QuicMetricsUpdated(metrics) => {
                found.cwnd.extend(metrics.congestion_window);
                found.srtt.extend(metrics.smoothed_rtt);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(read, records, "each record is an event that the reader knows");
    found
}

fn logs(transport: &str, more: &[(&str, &str)]) -> (Results, Read) {
    let mut settings = vec![("traffic.one.transport", transport)];
    settings.extend(more);
    let (results, logs) = logged(PATH, &settings, &["one"]);
    // a log changes nothing
    assert_eq!(bits(&results), bits(&run(PATH, &settings)), "{transport}");
    let found = read(&logs[0]);
    (results, found)
}

/// Of a flow of TCP the log has the packets that its row counts: as many as left, as were sent again;
/// every one that is acknowledged within 40 ms of propagation, 1.2 ms of service and 21 ms of
/// waiting at the earliest and the latest, without loss; and the bytes in order.
#[test]
fn a_log_of_tcp_has_every_packet_of_its_row() {
    let transports = [
        "{ tcp = { profile = \"linux\" } }",
        "{ tcp = { profile = \"rfc\" } }",
        "{ tcp = { profile = \"linux\", control = \"bbr\" } }",
        "{ crate = { name = \"s2n:cubic\", profile = \"linux\" } }",
    ];
    for transport in transports {
        let (results, found) = logs(transport, &[]);
        let (sent, again) = (one(&results, "sent_packets"), one(&results, "retransmitted_packets"));
        // beside data: the SYN, the acknowledgements of SYN+ACK and of the FIN, the own FIN
        let beside = found.sent.len() as f64 - sent;
        assert!((1.0..=4.0).contains(&beside), "{transport}: {beside}");
        assert!(again > 10.0, "{transport}: {again}");
        assert!((found.lost as f64 - again).abs() <= 1.0, "{transport}: {} {again}", found.lost);
        // 5 MB in segments of `mss`, each acknowledged once
        let segments = sent - again;
        let acked = found.acked.len() as f64;
        assert!((segments..=segments + 1.0).contains(&acked), "{transport}: {acked} {segments}");
        let last = found.offsets.iter().max().copied().unwrap_or_default();
        assert!((5_000_000 - 1500..=5_000_000 + 1500).contains(&last), "{transport}: {last}");
        assert!((found.sent[0] - 1000.0).abs() < 1e-6, "{}", found.sent[0]);
        let quickest = found.acked.iter().map(|(&number, &at)| at - found.sent[number as usize]);
        let quickest = quickest.fold(f64::INFINITY, f64::min);
        assert!((40.0..43.0).contains(&quickest), "{transport}: {quickest}");
        assert!(found.srtt.iter().all(|&ms| (40.0..120.0).contains(&ms)), "{transport}");
        assert!(found.cwnd.len() > 100, "{transport}");
        assert_eq!(found.vantage, "Client");
    }
}

/// Of a stack the log counts its datagrams and what it takes for lost, and has its window, which
/// opens with ten datagrams of 1200 bytes or 12000 bytes (quinn).
#[test]
fn a_log_of_a_stack_has_what_it_reports() {
    let turned = [("traffic.one.direction", "download")];
    for stack in ["quinn", "noq"] {
        let transport = format!("{{ quic = {{ stack = \"{stack}\" }} }}");
        let (results, found) = logs(&transport, &turned);
        let (sent, lost) = (one(&results, "sent_packets"), one(&results, "retransmitted_packets"));
        // beside data: the server's Initials
        let beside = found.sent.len() as f64 - sent;
        assert!((1.0..=4.0).contains(&beside), "{stack}: {beside}");
        assert_eq!(found.lost as f64, lost, "{stack}");
        assert_eq!(found.cwnd.first(), Some(&12_000), "{stack}");
        assert!(found.received > 500, "{stack}: {}", found.received);
        assert_eq!(found.vantage, "Server");
    }
}
