//! The receive window that grows with what is read: what it does to whole flows.

use crate::common::*;

/// Hosts as Linux has them, with these receive buffers at first and at the most.
fn tcp(first: &str, most: &str, more: &str) -> String {
    format!(
        "{{ tcp = {{ profile = \"linux\", receive_buffer = \"{first}\", \
         receive_buffer_limit = \"{most}\"{more} }} }}"
    )
}

fn upload(size: &str, tcp: &str) -> String {
    format!(
        "{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\nsize = \"{size}\"\ntransport = {tcp}\n"
    )
}

/// A window a round trip, by hand. A segment of 1448 bytes takes 2304 of a buffer, so that 160/256 of
/// it are data. Beside one segment a buffer of 64 KiB has room for 39,520 bytes, 27 segments, and one
/// of 256 KiB for 162,400, 112 segments. A round trip takes 200 ms, 1.44 ms of a segment and 0.05 ms
/// of its acknowledgement. What HyStart adds to the first round trips is less than a hundredth.
#[test]
fn a_largest_buffer_limits_the_rate() {
    for (most, window) in [("64KiB", 27.0), ("256KiB", 112.0)] {
        let results = run(&load(&upload("unlimited", &tcp("64KiB", most, "")), &[]), 1);
        let rounds = 40.0 / 0.2015;
        close(flow(&results, "delivered_bytes"), window * 1448.0 * rounds, 0.04);
        assert_eq!(flow(&results, "retransmitted_packets"), 0.0, "{most}");
    }
}

/// With room for all, the buffer is never what a flow waits for: it takes as long as with a receiver
/// that offers all from the start, where each segment is acknowledged.
#[test]
fn a_large_buffer_is_as_good_as_none() {
    let done = |first: &str| {
        let tcp = tcp(first, "1GB", ", delayed_ack = false, control = \"reno\"");
        flow(&run(&load(&upload("300kB", &tcp), &[]), 1), "fct_s")
    };
    assert_eq!(done("500MB"), done("0B"));
    assert!(done("64KiB") > done("0B"));
}

/// Whatever the buffer, the segments and the losses: what is sent arrives. Requests of a page travel
/// with acknowledgements that do not tell of the window, while others are delayed.
#[test]
fn nothing_waits_for_ever() {
    for (first, most) in [("1B", "1B"), ("2000B", "2000B"), ("5000B", "1MiB"), ("1MiB", "1GB")] {
        for mss in [64, 536, 1448, 8948] {
            for (loss, sack) in [(0.0, true), (0.02, true), (0.02, false)] {
                let tcp = tcp(first, most, &format!(", mss = \"{mss}B\", sack = {sack}"));
                let case = format!("{tcp}, loss {loss}");
                let loss = loss.to_string();
                let settings = [
                    ("topology.dumbbell.bottleneck.loss", loss.as_str()),
                    ("topology.dumbbell.bottleneck.delay", "9ms"),
                    ("duration", "300s"),
                ];
                let size = format!("{}B", 40 * mss);
                let alone = run(&load(&upload(&size, &tcp), &settings), 1);
                assert!(flow(&alone, "fct_s") < 200.0, "{case}");
                let pages =
                    "pages = { objects = 6, connections = 2, concurrent = 2, request = \"60B\" }";
                let text = format!("{}{pages}\n", upload(&format!("{}B", 5 * mss), &tcp));
                let pages = run(&load(&text, &settings), 1);
                let done = column(&pages.objects, "done_s");
                assert!(done.len() == 6 && done.iter().all(|&at| at < 200.0), "{case}: {done:?}");
            }
        }
    }
}
