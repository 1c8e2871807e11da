//! The result of a flow, and the table of all flows.
//!
//! | column | source |
//! |---|---|
//! | `start_s` | the call that sends the first SYN |
//! | `syn_tries` | one, and what the kernel sent again until the connection stood, the run ended, or the user or the kernel gave up |
//! | `admitted_s` | of an upload: the connection stood, less the round trip of its handshake, which is when the SYN that got through was sent. Of a download: the connection stood, less half of the shortest handshake of the run, for the way of the SYN+ACK behind the gate. Not before the start |
//! | `data_done_s` | of a download: its end was read. Of an upload: half of the shortest handshake before `closed_s` |
//! | `closed_s` | of an upload: the server, which says when it has everything, was heard. Of a download: as the server says, from its accepting to the answer to its end, put behind half of the shortest handshake after the connection stood |
//! | `gave_up_s` | the user's patience or the kernel's tries were over, or the session was reset |
//! | `sent_packets`, `retransmitted_packets`, `timeouts` | the kernel of the end that sends, whether the flow came to its end or not |
//! | `delivered_bytes` | what was acknowledged, or read |

use std::io::Write;

use serde::{Deserialize, Serialize};
use tidegate_model::columns::FLOWS;

use super::plan::{Plan, PlannedFlow};
use tidegate_common::fail::{At, Failure};

/// The sender's counts at the end of the flow or of the run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// Data packets, with retransmissions.
    pub packets: u32,
    /// Retransmitted data packets.
    pub again: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Seconds from accepting the connection to the answer to the end of the data; none: not within
    /// the run.
    pub closed_after: Option<f64>,
}

/// The result of a flow, in seconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FlowResult {
    /// The first SYN was sent.
    pub start: f64,
    /// The connection was established.
    pub connected: Option<f64>,
    /// The round trip of its handshake.
    pub handshake: f64,
    /// SYNs sent.
    pub syn_tries: u32,
    /// Everything has arrived, and the other end has closed.
    pub ended: Option<f64>,
    /// The user gave up, or the session failed.
    pub gave_up: Option<f64>,
    /// Bytes acknowledged or received.
    pub delivered: u64,
    /// The sender's counts.
    pub sent: Sent,
}

/// Writes the table: the columns of the simulator's `flows`.
///
/// # Errors
/// It cannot be written.
pub fn write(
    to: impl Write,
    plan: &Plan,
    records: &[(PlannedFlow, FlowResult)],
) -> Result<(), Failure> {
    let mut table = csv::Writer::from_writer(to);
    table.write_record(FLOWS.iter().map(|column| column.name)).at("table of flows")?;
    let shortest = shortest_handshake(records);
    for (number, (flow, record)) in records.iter().enumerate() {
        let row = row(number, &plan.sorts[flow.class].name, flow, record, shortest);
        table.write_record(row).at("table of flows")?;
    }
    table.flush().at("table of flows")
}

/// The shortest handshake of the run; zero if there was none.
fn shortest_handshake(records: &[(PlannedFlow, FlowResult)]) -> f64 {
    let measured = records.iter().map(|(_, record)| record.handshake).filter(|&rtt| rtt > 0.0);
    let shortest = measured.fold(f64::INFINITY, f64::min);
    if shortest.is_finite() { shortest } else { 0.0 }
}

/// The times of admission, complete data and close.
fn instants(flow: &PlannedFlow, record: &FlowResult, shortest: f64) -> [Option<f64>; 3] {
    let Some(connected) = record.connected else { return [None; 3] };
    let half = shortest / 2.0;
    if !flow.download {
        let admitted = (connected - record.handshake).max(record.start);
        return [Some(admitted), record.ended.map(|at| at - half), record.ended];
    }
    let admitted = (connected - half).max(record.start);
    let closed = record.sent.closed_after.map(|span| connected + half + span);
    [Some(admitted), record.ended, closed.filter(|_| record.ended.is_some())]
}

fn row(
    number: usize,
    class: &str,
    flow: &PlannedFlow,
    record: &FlowResult,
    shortest: f64,
) -> Vec<String> {
    let [admitted, done, closed] = instants(flow, record, shortest);
    let fct = closed.map(|closed| closed - record.start);
    let fct_admitted = closed.zip(admitted).map(|(closed, admitted)| closed - admitted);
    let goodput = fct.map(|fct| record.delivered as f64 * 8.0 / fct);
    let time = |at: Option<f64>| at.map_or(String::new(), |at| format!("{at:.6}"));
    let whole = |number: u64| number.to_string();
    vec![
        whole(number as u64),
        class.to_owned(),
        flow.size.map_or(String::new(), whole),
        time(Some(record.start)),
        time(admitted),
        time(done),
        time(closed),
        time(record.gave_up),
        time(fct),
        time(fct_admitted),
        goodput.map_or(String::new(), |bps| format!("{bps:.1}")),
        whole(record.syn_tries.into()),
        whole(record.sent.again.into()),
        whole(record.sent.timeouts.into()),
        whole(record.sent.packets.into()),
        whole(record.delivered),
    ]
}

#[cfg(test)]
mod tests {
    use tidegate_core::units::Time;

    use super::*;

    const FLOW: PlannedFlow =
        PlannedFlow { start: Time::ZERO, size: Some(10_000), download: false, class: 0 };

    // By hand: the SYN at 1 s was refused, that at 2 s was admitted and answered after 40 ms.
    #[test]
    fn an_upload_is_admitted_when_the_syn_that_got_through_was_sent() {
        let record = FlowResult {
            start: 1.0,
            connected: Some(2.04),
            handshake: 0.04,
            ended: Some(2.5),
            ..FlowResult::default()
        };
        let [admitted, done, closed] = instants(&FLOW, &record, 0.04);
        assert!((admitted.expect("it was") - 2.0).abs() < 1e-9);
        assert!((done.expect("it was") - 2.48).abs() < 1e-9);
        assert_eq!(closed, Some(2.5));
    }

    // By hand: accepted 20 ms after the client's connect, closed 300 ms later.
    #[test]
    fn a_download_is_closed_as_its_server_says() {
        let sent = Sent { closed_after: Some(0.3), ..Sent::default() };
        let flow = PlannedFlow { download: true, ..FLOW };
        let record = FlowResult {
            start: 1.0,
            connected: Some(1.04),
            handshake: 0.04,
            ended: Some(1.3),
            sent,
            ..FlowResult::default()
        };
        let [admitted, done, closed] = instants(&flow, &record, 0.04);
        assert!((admitted.expect("it was") - 1.02).abs() < 1e-9);
        assert_eq!(done, Some(1.3));
        assert!((closed.expect("it was") - 1.36).abs() < 1e-9);
        assert_eq!(instants(&flow, &FlowResult::default(), 0.04), [None; 3], "never admitted");
    }

    // A row has a value for each column of the table.
    #[test]
    fn a_row_is_as_wide_as_the_table() {
        assert_eq!(row(0, "web", &FLOW, &FlowResult::default(), 0.0).len(), FLOWS.len());
    }
}
