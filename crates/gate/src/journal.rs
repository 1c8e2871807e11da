//! The log of decisions: one line of JSON per epoch.
//!
//! A line that cannot be written (a full disk) is dropped and counted: the gate
//! does not wait for the log.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

/// The line of one epoch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EpochLine {
    /// The interface of the gate: gates may share a file.
    pub interface: String,
    /// `down` or `up`, where the gate's file says it.
    pub direction: Option<&'static str>,
    /// Seconds since 1970.
    pub at_s: f64,
    /// Number of the epoch since the start.
    pub epoch: u64,
    /// `observe` or `enforce`.
    pub mode: &'static str,
    /// Phase of the law.
    pub phase: &'static str,
    /// Sessions allowed per epoch; null: everything passes.
    pub set: Option<f64>,
    /// What it was decided from: (smoothed) completions per epoch, or a measure.
    pub from: Option<f64>,
    /// Openers of the epoch, retries included.
    pub arrived: u64,
    /// Of these, admitted.
    pub admitted: u64,
    /// Sessions that ended.
    pub departed: u64,
    /// Sessions that were reset.
    pub resets: u64,
    /// Packets that the queue sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that it dropped.
    pub drops: u64,
    /// Fewest waiting packets.
    pub min_queue: u32,
    /// Alarm: admitted sessions do not end, so nothing is refused.
    pub alarm: bool,
    /// Whether the law's decision is in force; else everything passes.
    pub obeyed: bool,
    /// Whether the law ran.
    pub judged: bool,
}

/// A file of lines, or none.
#[derive(Debug, Default)]
pub struct Journal {
    path: Option<PathBuf>,
    file: Option<File>,
    /// Lines that could not be written.
    pub lost: u64,
}

impl Journal {
    /// Writes to the end of `path`, which need not exist.
    pub fn new(path: Option<PathBuf>) -> Journal {
        Journal { path, file: None, lost: 0 }
    }

    /// Reopens the file at the next line, as after a rotation.
    pub fn reopen(&mut self, path: Option<PathBuf>) {
        (self.path, self.file) = (path, None);
    }

    /// Writes one line, or counts it as lost.
    pub fn write(&mut self, line: &EpochLine) {
        if let Err(error) = self.try_write(line) {
            if self.lost == 0 {
                tracing::warn!("the log cannot be written, lines are lost: {error}");
            }
            self.lost += 1;
            self.file = None;
        }
    }

    fn try_write(&mut self, line: &EpochLine) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        if self.file.is_none() {
            self.file = Some(OpenOptions::new().create(true).append(true).open(path)?);
        }
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // /dev/full takes nothing, as a full disk: the gate goes on and counts what it lost.
    #[test]
    fn a_full_disk_costs_lines_and_nothing_else() {
        let mut journal = Journal::new(Some(PathBuf::from("/dev/full")));
        journal.write(&EpochLine::default());
        journal.write(&EpochLine::default());
        assert_eq!(journal.lost, 2);
        journal.reopen(None);
        journal.write(&EpochLine::default());
        assert_eq!(journal.lost, 2);
    }
}
