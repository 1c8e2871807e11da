//! Files that a scenario refers to: as they are, and of captures their flows as a table.

use tidegate_capture as capture;

const PARQUET: &[u8] = b"PAR1";

/// What the model is handed for a file, and notes on what is not in it as it was.
pub fn content(name: &str, bytes: Vec<u8>) -> Result<(Vec<u8>, Vec<String>), String> {
    if bytes.starts_with(PARQUET) {
        return Err(format!("{name} is a Parquet file, which a page cannot read: save it as CSV"));
    }
    if !capture::is_capture(&bytes) {
        return Ok((bytes, Vec::new()));
    }
    let mut reader = capture::Reader::new();
    let read = reader.feed(&bytes).and_then(|_| reader.finish());
    let found = read.map_err(|error| format!("no flows can be taken from {name}: {error}"))?;
    let mut table = String::from("start_s,size_bytes,direction\n");
    for flow in &found.flows {
        let direction = match flow.direction {
            capture::Direction::Upload => "upload",
            capture::Direction::Download => "download",
        };
        let start_s = flow.start_ns as f64 / 1e9;
        table.push_str(&format!("{start_s},{},{direction}\n", flow.size_bytes));
    }
    Ok((table.into_bytes(), notes(name, &found)))
}

/// How the flows differ from what was captured: where reading ended, what was left out, and what is
/// an estimate.
fn notes(name: &str, found: &capture::Flows) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = &found.broken {
        notes.push(format!("{name}: {why}; the flows up to there are replayed"));
    }
    let quic = found.flows.iter().filter(|flow| flow.transport == capture::Transport::Quic).count();
    if quic > 0 {
        let all = found.flows.len();
        notes.push(format!(
            "{name}: {quic} of {all} flows are connections of QUIC; their sizes are estimated by \
             the lengths of packets"
        ));
    }
    if !found.skipped.is_empty() {
        let skipped = found.skipped.iter().map(|each| format!("{} {}", each.count, each.reason));
        let skipped: Vec<String> = skipped.collect();
        notes.push(format!("{name}: not among the flows: {}", skipped.join(", ")));
    }
    notes
}
