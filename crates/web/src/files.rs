//! Files that a scenario refers to: as they are, and of captures their flows as a table.

use tidegate_capture as capture;

/// How the formats of packet captures begin: pcap in both orders of bytes and with both units of
/// time, and pcapng.
const CAPTURES: [[u8; 4]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];
const PARQUET: &[u8] = b"PAR1";

/// What the model is handed for a file.
pub fn content(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if bytes.starts_with(PARQUET) {
        return Err(format!("{name} is a Parquet file, which a page cannot read: save it as CSV"));
    }
    if !CAPTURES.iter().any(|begin| bytes.starts_with(begin)) {
        return Ok(bytes);
    }
    let mut reader = capture::Reader::new();
    let read = reader.feed(&bytes).and_then(|_| reader.finish());
    let found = read.map_err(|error| format!("no flows can be taken from {name}: {error}"))?;
    let mut table = String::from("start_s,size_bytes,direction\n");
    for flow in found.flows {
        let direction = match flow.direction {
            capture::Direction::Upload => "upload",
            capture::Direction::Download => "download",
        };
        let start_s = flow.start_ns as f64 / 1e9;
        table.push_str(&format!("{start_s},{},{direction}\n", flow.size_bytes));
    }
    Ok(table.into_bytes())
}
