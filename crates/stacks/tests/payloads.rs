//! Every payload is freed where its packet ends.

use proptest::prelude::*;

use crate::common::*;

/// A port of any kind: what drops, evicts, refuses and loses there.
fn ports() -> impl Strategy<Value = (String, String, String, f64)> {
    let queues = [
        "{ law = \"drop-tail\" }",
        "{ law = \"codel\" }",
        "{ law = \"fq-codel\" }",
        "{ law = \"red\" }",
        "{ law = \"pie\" }",
        "{ law = \"cake\" }",
        "{ law = \"pushout\" }",
        "{ law = \"dqm\", quic = true }",
    ];
    let gates = [
        "{ law = \"none\" }",
        "{ law = \"fixed-rate\", rate = \"3/s\", quic = {} }",
        "{ law = \"tide\", quic = {} }",
        "{ law = \"close-probe\", quic = {} }",
    ];
    let queue = prop::sample::select(queues.to_vec()).prop_map(str::to_owned);
    let gate = prop::sample::select(gates.to_vec()).prop_map(str::to_owned);
    let buffer = (3_u32..80).prop_map(|packets| format!("{packets}packets"));
    let loss = prop::sample::select(vec![0.0, 0.01, 0.2]);
    (queue, gate, buffer, loss)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Flows of all kinds and pages, at ports of all kinds: `run` compares the datagrams that are
    /// kept with the packets that are under way all the time, and at the end.
    #[test]
    fn nothing_is_kept_of_a_packet_that_ended(
        (queue, gate, buffer, loss) in ports(),
        pages in any::<bool>(),
        patience in prop::sample::select(vec!["1s", "20s"]),
    ) {
        let loss = loss.to_string();
        let mut settings = vec![
            ("duration", "4s"),
            ("topology.dumbbell.pairs", "3"),
            ("topology.dumbbell.bottleneck.delay", "8ms"),
            ("topology.dumbbell.bottleneck.buffer", buffer.as_str()),
            ("topology.dumbbell.bottleneck.loss", loss.as_str()),
            ("port.bottleneck.queue", queue.as_str()),
            ("port.bottleneck.gate", gate.as_str()),
            ("traffic.one.arrivals", "{ uniform = 60, within = \"3s\" }"),
            ("traffic.one.size", "40kB"),
            ("traffic.one.patience", patience),
        ];
        if pages {
            settings.push(("traffic.one.pages", "{ objects = 5, document = \"5kB\" }"));
        }
        let results = run(LINK, &settings);
        let sent: f64 = column(&results.flows, "sent_packets").iter().sum();
        prop_assert!(sent > 50.0, "{sent}");
    }
}
