//! Scenarios from files: the same documents that the simulator runs.

use std::collections::BTreeMap;
use std::path::Path;

use tidegate_model::{Scenario, Setting, Source, files, load};

use tidegate_common::fail::Failure;

/// Reads a scenario and applies `KEY=VALUE` settings. Paths in it are relative to its folder.
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
        contents.insert(file, found);
    }
    load(source, &settings, &contents).map_err(wrong)
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
