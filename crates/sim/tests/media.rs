//! Media over UDP: frames, the reports of the receiver, and what the laws make of them.

use crate::common::*;
use tidegate_sim::Results;

/// A link of so many bit/s with 50 ms each way, and a class of media.
fn media(rate: &str, more: &str, settings: &[(&str, &str)]) -> Results {
    let text = format!(
        r#"
name = "media"
duration = "40s"
warmup = "20s"
[topology.dumbbell]
pairs = 1
access = {{ rate = "10Gbit", delay = "0ms" }}
bottleneck = {{ rate = "{rate}", delay = "50ms", buffer = "300ms" }}
[traffic.call]
arrivals = {{ at = ["0s"] }}
transport = {{ udp = {{ rate = "1.5Mbit", packet = "1000B", media = {{ }} }} }}
{more}
"#
    );
    run(&load(&text, settings), 1)
}

const MEDIA: &str = "traffic.call.transport.udp.media";

fn key(name: &str) -> String {
    format!("{MEDIA}.{name}")
}

fn udp(results: &Results, name: &str) -> f64 {
    column(&results.udp, name)[0]
}

/// Of a port, in order: the bottleneck and its reverse.
fn total(results: &Results, port: usize, name: &str) -> f64 {
    column(&results.port_totals, name)[port]
}

/// By hand: 1.5 Mbit/s at 30 frames are 6250 B, seven packets a frame, all at once: the last one of a
/// frame has 250 B. In the 20 s after the warm-up there are 600 frames and 4200 packets, 3.75 MB.
#[test]
fn a_fixed_rate_is_frames_of_equal_size() {
    let fixed = "{ law = \"fixed\" }";
    let set = [(key("control"), fixed), (key("spread"), "0.0")];
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let results = media("100Mbit", "", &set);
    assert_eq!(udp(&results, "sent_packets"), 4200.0);
    assert_eq!(udp(&results, "lost_packets"), 0.0);
    // the warm-up ends with a frame under way
    let bytes = total(&results, 0, "departed_bytes");
    assert!((bytes - 3.75e6).abs() <= 6250.0, "{bytes}");
}

/// RFC 8888, 3.1 by hand: 20 packets or so in 100 ms. Three frames have 21, which take 42 B, filled up
/// to 44; with the headers of IP and UDP (28), of RTCP and its sender (8), of the stream (8) and the
/// time stamp (4) they are 92 B. Reports leave every 100 ms.
#[test]
fn reports_have_the_size_of_rfc_8888() {
    let fixed = "{ law = \"fixed\" }";
    let set = [(key("control"), fixed), (key("spread"), "0.0")];
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let results = media("100Mbit", "", &set);
    let (packets, bytes) =
        (total(&results, 1, "departed_packets"), total(&results, 1, "departed_bytes"));
    assert!((199.0..=201.0).contains(&packets), "{packets}");
    assert!((bytes / packets - 92.0).abs() < 1.0, "{}", bytes / packets);
}

/// RFC 8698, 4.3: the level of congestion at which NADA rests is XREF RMAX / r, at 1 of 1.5 Mbit/s
/// 15 ms of queue. So the link is used and the queue is some tens of ms of the 300 that there are.
#[test]
fn nada_fills_a_link_with_a_short_queue() {
    let results = media("1Mbit", "", &[]);
    let used = total(&results, 0, "utilisation");
    assert!(used > 0.9, "{used}");
    let median_queue = udp(&results, "delay_p50_s") - 0.05;
    assert!((0.005..0.06).contains(&median_queue), "{median_queue}");
    assert_eq!(udp(&results, "lost_packets"), 0.0);
}

/// draft-ietf-rmcat-gcc-02, 5.5: it falls to 0.85 of what arrives, so that it uses between that and
/// all of a link, without losses.
#[test]
fn gcc_stays_below_a_link() {
    let set = [(key("control"), "{ law = \"gcc\" }"), (key("start"), "900kbit")];
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let results = media("1Mbit", "", &set);
    let used = total(&results, 0, "utilisation");
    assert!((0.8..1.0).contains(&used), "{used}");
    assert!(udp(&results, "delay_p95_s") < 0.2);
    assert_eq!(udp(&results, "lost_packets"), 0.0);
}

/// draft-ietf-ccwg-rfc8298bis-screamv2: the delay of the queue is kept about its target of 60 ms or
/// below, and a link of its rate is used.
#[test]
fn scream_keeps_to_its_target() {
    let set = [(key("control"), "{ law = \"scream\" }")];
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let results = media("1Mbit", "", &set);
    let used = total(&results, 0, "utilisation");
    assert!(used > 0.8, "{used}");
    assert!(udp(&results, "delay_p50_s") < 0.05 + 0.06);
    assert_eq!(udp(&results, "lost_packets"), 0.0);
}

/// The window of SCReAM is 3000 B at first, and three of it may be under way. Where no report comes,
/// what was sent is forgotten after 5 s: with 10 s so many bytes leave two times, and a third time
/// what follows; without the window the encoder would send 150 kbit/s, 187 kB.
#[test]
fn a_window_holds_packets_back() {
    let lost = "topology.dumbbell.bottleneck.reverse.loss";
    let set = [(key("control"), "{ law = \"scream\" }")];
    let mut set: Vec<(&str, &str)> =
        set.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    set.extend([(lost, "1.0"), ("warmup", "0s"), ("duration", "10s")]);
    let bytes = total(&media("1Mbit", "", &set), 0, "departed_bytes");
    assert!((9e3..=27e3).contains(&bytes), "{bytes}");
}

/// Without a report there is nothing to go by: the encoder keeps its first rate, 300 kbit/s, which
/// is 0.75 MB in 20 s; sizes of frames differ, by 0.15 * sqrt(2) / sqrt(600) = 0.9 % in the mean.
#[test]
fn without_reports_the_rate_stays() {
    let start = key("start");
    let lost = "topology.dumbbell.bottleneck.reverse.loss";
    let results = media("1Mbit", "", &[(&start, "300kbit"), (lost, "1.0")]);
    let bytes = total(&results, 0, "departed_bytes");
    assert!((bytes / 0.75e6 - 1.0).abs() < 0.03, "{bytes}");
}

/// What is lost is lost on the link and nowhere else: of a flow whose reports say that a tenth is
/// lost, as many packets are missing as the link has lost.
#[test]
fn what_the_link_loses_is_missing() {
    let results = media("10Mbit", "", &[("topology.dumbbell.bottleneck.loss", "0.1")]);
    let (lost, sent) = (udp(&results, "lost_packets"), udp(&results, "sent_packets"));
    assert!((lost / sent - 0.1).abs() < 0.03, "{lost} of {sent}");
    // RFC 8698, equations 2 and 5: from 3.2 % of losses on the level is above the 100 ms at which
    // NADA would rest at its lowest rate; the share that it sees varies, as few packets are sent
    let bytes = total(&results, 0, "departed_bytes");
    assert!((1.0..1.2).contains(&(bytes * 8.0 / 20.0 / 150e3)), "{bytes}");
}

/// `on_off`: 30 s of sending and 60 of silence, so that nothing is sent after 30 s but what waits.
#[test]
fn a_pause_has_no_frames() {
    let on_off = ("traffic.call.transport.udp.on_off", "{ on = \"30s\", off = \"60s\" }");
    let results = media("10Mbit", "", &[on_off]);
    let sent = udp(&results, "sent_packets");
    let whole = udp(&media("10Mbit", "", &[]), "sent_packets");
    assert!((sent / whole - 0.5).abs() < 0.05, "{sent} of {whole}");
}

/// A flow of a size ends when its last byte is delivered, and what arrives has that many.
#[test]
fn a_flow_of_a_size_ends() {
    let results = media("10Mbit", "size = \"100kB\"", &[("warmup", "0s")]);
    assert_eq!(flow(&results, "delivered_bytes"), 100_000.0);
    assert_eq!(flow(&results, "closed_s"), flow(&results, "data_done_s"));
    assert!(flow(&results, "data_done_s") < 10.0);
}

/// Frames are drawn from a stream of their own: a class beside it changes none of them.
#[test]
fn a_class_beside_it_changes_no_frame() {
    let fixed = key("control");
    let set = [(fixed.as_str(), "{ law = \"fixed\" }")];
    let alone = media("100Mbit", "", &set);
    let more = "[traffic.other]\narrivals = { at = [\"0s\"] }\ntransport = { udp = { rate = \"1Mbit\", media = {} } }";
    let beside = media("100Mbit", more, &set);
    let bytes = |results: &Results| column(&results.flows, "delivered_bytes")[0];
    assert_eq!(bytes(&alone), bytes(&beside));
}
