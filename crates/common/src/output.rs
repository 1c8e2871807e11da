//! Results on standard output, and files that a command reads.

use std::io::Write;
use std::path::Path;

use crate::fail::{At, Failure};

/// Writes a result to standard output. It is no error if the reader has closed the pipe.
pub fn say(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Writes a result to standard output as one line of JSON.
///
/// # Errors
/// It cannot be written as JSON.
pub fn say_json(result: &impl serde::Serialize) -> Result<(), Failure> {
    say(&(serde_json::to_string(result).at("the result")? + "\n"));
    Ok(())
}

/// The text of a file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::usage(path.display(), error))
}
