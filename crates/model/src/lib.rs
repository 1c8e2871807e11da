//! Scenarios of tidegate: from a document to checked data.
//!
//! A document (TOML) and settings become a [`Scenario`] by [`load`], and are
//! checked there once and for all: whoever holds a [`Scenario`] needs no
//! further check. Nothing here opens a file: what a document refers to
//! ([`files`]) is handed in.

mod check;
pub mod columns;
mod document;
pub mod draw;
pub mod law;
pub mod profile;
mod report;
pub mod route;
pub mod scenario;
mod tree;

use std::collections::BTreeMap;

pub use report::Report;
pub use scenario::Scenario;

use document::size::Distribution;

/// A document and the name that messages give it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name for messages: usually the file's.
    pub name: &'a str,
    /// The text, in TOML.
    pub text: &'a str,
}

/// One setting that replaces a value of the document, as in `--set KEY=VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Keys joined by dots, as in `traffic.web.size.mean`.
    pub key: &'a str,
    /// The value in TOML; a string may go without quotes.
    pub value: &'a str,
}

/// The files that a document refers to, as written there, sorted.
///
/// # Errors
/// The document cannot be read.
pub fn files(source: Source<'_>, settings: &[Setting<'_>]) -> Result<Vec<String>, Report> {
    let document = check::document(&tree::parse(source, settings)?)?;
    let mut files: Vec<String> = document
        .traffic
        .0
        .into_iter()
        .filter_map(|(_, class)| match class.size.0 {
            Distribution::Empirical(law) => Some(law.file),
            _ => None,
        })
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Reads and checks a document; `files` holds the contents of [`files`].
///
/// # Errors
/// Everything that is wrong, each with its line and what would be right.
pub fn load(
    source: Source<'_>,
    settings: &[Setting<'_>],
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Scenario, Report> {
    let tree = tree::parse(source, settings)?;
    let document = check::document(&tree)?;
    check::scenario(&tree, document, files).map(|(scenario, _)| scenario)
}

/// The effective scenario: a document with all settings applied and all
/// defaults spelled out, which loads to the same [`Scenario`]. It is one
/// scenario: variants are left out.
///
/// # Errors
/// Everything that is wrong, as from [`load`].
pub fn show(
    source: Source<'_>,
    settings: &[Setting<'_>],
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<String, Report> {
    let tree = tree::parse(source, settings)?;
    let document = check::document(&tree)?;
    let (_, effective) = check::scenario(&tree, document, files)?;
    toml::to_string(&effective).map_err(|error| {
        let what = format!("the scenario cannot be written: {error}");
        Report::new(vec![report::Problem { what, help: String::new(), place: None }], &[])
    })
}

/// The settings of one variant: keys joined by dots, and values in TOML.
pub type Settings = Vec<(String, String)>;

/// The variants that a document defines (`[variant.NAME]`), in its order, each
/// with the settings that it stands for.
///
/// # Errors
/// The document cannot be read.
pub fn variants(
    source: Source<'_>,
    settings: &[Setting<'_>],
) -> Result<Vec<(String, Settings)>, Report> {
    let tree = tree::parse(source, settings)?;
    check::document(&tree)?;
    Ok(tree.variants())
}

/// The JSON schema of scenario documents.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(document::Document);
    schema.insert("title".to_owned(), "tidegate scenario".into());
    let mut text = format!("{:#}", schema.to_value());
    text.push('\n');
    text
}
