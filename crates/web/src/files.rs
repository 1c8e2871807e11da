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
    let found = capture::read(&bytes[..])
        .map_err(|error| format!("no flows can be taken from {name}: {error}"))?;
    Ok((found.table().into_bytes(), found.notes(name)))
}
