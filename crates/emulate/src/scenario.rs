//! Scenarios from files: the same documents that the simulator runs.

use std::collections::BTreeMap;
use std::path::Path;

use tidegate_capture as capture;
use tidegate_model::{Scenario, Setting, Source, files, load};

use tidegate_common::fail::Failure;

/// What a file of tables in Parquet begins with.
const PARQUET: &[u8] = b"PAR1";

/// Reads a scenario and applies `KEY=VALUE` settings. Paths in it are relative to its folder. Of a
/// capture the flows are read, as the simulator does.
///
/// # Errors
/// A file cannot be read or is invalid.
pub fn read(path: &Path, settings: &[String]) -> Result<Scenario, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Failure::usage(&name, error))?;
    let settings = settings.iter().map(|text| setting(text)).collect::<Result<Vec<_>, _>>()?;
    let source = Source { name: &name, text: &text };
    let wrong = |report| Failure::usage(&name, report);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut contents = BTreeMap::new();
    for file in files(source, &settings).map_err(wrong)? {
        let at = folder.join(&file);
        let found = std::fs::read(&at).map_err(|error| Failure::usage(at.display(), error))?;
        let (content, notes) = content(&at.display().to_string(), found)?;
        notes.iter().for_each(|note| eprintln!("tidegated: warning: {note}"));
        contents.insert(file, content);
    }
    load(source, &settings, &contents).map_err(wrong)
}

/// What the model is handed for a file, and what is not in it as it was.
fn content(name: &str, bytes: Vec<u8>) -> Result<(Vec<u8>, Vec<String>), Failure> {
    if bytes.starts_with(PARQUET) {
        let what = "a table in Parquet, which tidegated cannot read";
        return Err(Failure::usage(name, what).remedy("write it as CSV"));
    }
    if !capture::is_capture(&bytes) {
        return Ok((bytes, Vec::new()));
    }
    let found = capture::read(&bytes).map_err(|error| {
        Failure::usage(name, format!("no flows can be taken from it: {error}"))
            .remedy("give a capture of TCP or QUIC as tcpdump or Wireshark writes it")
    })?;
    Ok((found.table().into_bytes(), found.notes(name)))
}

fn setting(text: &str) -> Result<Setting<'_>, Failure> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok(Setting { key: key.trim(), value: value.trim() })
        }
        _ => Err(Failure::usage("--set", format!("`{text}` is no setting"))
            .remedy("write KEY=VALUE, as in --set duration=60s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(name: &str) -> std::path::PathBuf {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios")).join(name)
    }

    // `tidegate flows` lists 110 connections of that capture, and one without data; the simulator
    // takes the scenario too.
    #[test]
    fn a_capture_is_read_as_its_flows() {
        let bytes = std::fs::read(shipped("captures/narrow-link.pcap")).expect("it is shipped");
        let (table, notes) = content("narrow-link.pcap", bytes).expect("it is a capture");
        let lines = String::from_utf8(table).expect("a table is text").lines().count();
        assert_eq!(lines, 111);
        assert_eq!(notes, ["narrow-link.pcap: not among the flows: 1 connection without data"]);
        assert!(read(&shipped("captured-traffic.toml"), &[]).is_ok());
    }

    // A file that is no text is refused by its name, and none of its bytes reach a terminal.
    #[test]
    fn a_file_that_is_no_table_is_refused_without_its_bytes() {
        let refused = content("a.parquet", b"PAR1\x15\x04".to_vec()).expect_err("no CSV");
        assert!(refused.to_string().contains("write it as CSV"), "{refused}");
        let folder = std::env::temp_dir().join(format!("tidegate-bytes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = std::fs::read_to_string(shipped("captured-traffic.toml")).expect("it is there");
        let file = folder.join("a.toml");
        let named = text.replace("captures/narrow-link.pcap", "noise");
        std::fs::write(&file, named).expect("a file");
        std::fs::write(folder.join("noise"), b"\x1b[2J\x07\x08,\x9b\x00\n1,2,3\n").expect("a file");
        let refused = read(&file, &[]).expect_err("it has no columns").to_string();
        std::fs::remove_dir_all(&folder).expect("it is there");
        let obeyed = |letter: char| letter.is_control() && letter != '\n';
        assert!(!refused.contains(obeyed), "{refused:?}");
        assert!(refused.contains("start_s"), "{refused}");
    }
}
