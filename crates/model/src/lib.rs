#![doc = include_str!("../README.md")]

pub mod columns;
mod document;
pub mod draw;
mod outlook;
mod paths;
pub mod port;
pub mod profile;
mod registry;
pub mod route;
pub mod scenario;
mod text;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

pub use outlook::{flow_state, lint, memory, offered};
pub use registry::{control, law};
pub use scenario::Scenario;
pub use text::report::{Message, Report};
pub use text::source::{Assignments, Parts, Setting, Source};

use document::size::{Distribution, SizeDoc};
use document::{ClassDoc, PortDoc};
use scenario::build;
use text::tree;

/// The files that a document refers to, as written there, sorted.
///
/// # Errors
/// The document cannot be read.
pub fn files(source: Source<'_>, settings: &[Setting<'_>]) -> Result<Vec<String>, Report> {
    let (document, _) = build::document(&tree::parse(source, settings)?)?;
    let of_class = |class: ClassDoc| {
        let file = |size: Option<SizeDoc>| match size?.0 {
            Distribution::Empirical(law) => Some(law.file),
            _ => None,
        };
        let of_document = class.pages.and_then(|pages| file(pages.document));
        [file(class.size), of_document, class.flows].into_iter().flatten()
    };
    let of_port =
        |port: PortDoc| [port.rate.map(|rate| rate.trace), port.delay.map(|delay| delay.trace)];
    let of_ports = document.port.into_values().flat_map(of_port).flatten();
    let of_ports = of_ports.filter(|trace| !build::is_shipped(trace));
    let of_traffic = document.traffic.into_values().flat_map(of_class);
    let mut files: Vec<String> = of_ports.chain(of_traffic).collect();
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
    let document = build::document(&tree)?;
    build::scenario(&tree, document, files).map(|(scenario, _)| scenario)
}

/// Reads a file whose tables are declared as those of a scenario are.
///
/// # Errors
/// Where the file is wrong, and what is wrong with it.
pub fn read<T: DeserializeOwned>(source: Source<'_>) -> Result<T, (String, String)> {
    let tree = tree::parse(source, &[]).map_err(|report| report.first(source.name))?;
    match tree.root.decode_all(1) {
        (Some(value), problems) if problems.is_empty() => Ok(value),
        (_, problems) => Err(Report::new(problems, &tree.texts).first(source.name)),
    }
}

/// The same of a file in which each of these tables may stand for a document: it has the keys of
/// the table, and those beside the tables that it does not name. Without such a table the file is
/// one document. Returns each with its name.
///
/// # Errors
/// As of [`read`]; or such a table is none, or a key beside them is one of `own`, which each has
/// to have for itself.
pub fn read_parts<T: DeserializeOwned>(
    source: Source<'_>,
    names: &[&'static str],
    own: &str,
    joined: &[&str],
) -> Result<Parts<T>, (String, String)> {
    let tree = tree::parse(source, &[]).map_err(|report| report.first(source.name))?;
    let wrong = |problem| Report::new(vec![problem], &tree.texts).first(source.name);
    let parts = tree.root.parts(names, own, joined).map_err(wrong)?;
    let decoded = parts.into_iter().map(|(name, node)| match node.decode_all(1) {
        (Some(value), problems) if problems.is_empty() => Ok((name, value)),
        (_, problems) => Err(Report::new(problems, &tree.texts).first(source.name)),
    });
    decoded.collect()
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
    let document = build::document(&tree)?;
    let (_, effective) = build::scenario(&tree, document, files)?;
    // by way of a value: what writes text is compiled for this one type
    let effective = toml::Value::try_from(&effective);
    effective.and_then(|value| toml::to_string(&value)).map_err(|error| {
        let what = format!("the scenario cannot be written: {error}");
        Report::new(vec![text::report::Problem { what, help: String::new(), place: None }], &[])
    })
}

/// The variants that a document defines (`[variant.NAME]`), in its order, each
/// with the settings that it stands for.
///
/// Every key and value is held against the format of documents; whether a
/// variant makes a scenario is for [`load`] to say.
///
/// # Errors
/// The document cannot be read, or a variant does not fit into it.
pub fn variants(
    source: Source<'_>,
    settings: &[Setting<'_>],
) -> Result<Vec<(String, Assignments)>, Report> {
    let tree = tree::parse(source, settings)?;
    build::document(&tree)?;
    let refused = |problem| Report::new(vec![problem], &tree.texts);
    tree.varied(build::fits).map_err(refused)?;
    Ok(tree.variants())
}

/// The axes of a grid of settings, as `[sweep]` writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Keys joined by dots, each with its values in TOML, in the order of the document.
    pub axes: Vec<(String, Vec<String>)>,
    /// How many seeds each point gets, if the document says so.
    pub seeds: Option<u64>,
}

/// The axes that a document defines (`[sweep]`).
///
/// Every key and value is held against the format of documents; whether the
/// points of the grid make scenarios is for [`load`] to say.
///
/// # Errors
/// The document cannot be read, or an axis does not fit into it.
pub fn axes(source: Source<'_>, settings: &[Setting<'_>]) -> Result<Axes, Report> {
    let tree = tree::parse(source, settings)?;
    build::document(&tree)?;
    let refused = |problem| Report::new(vec![problem], &tree.texts);
    let sweep = text::sweep::Sweep::of(&tree).map_err(refused)?;
    sweep.points(&tree, build::fits).map_err(refused)?;
    Ok(sweep.settings(&tree))
}

/// The JSON schema of scenario documents.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(document::Document);
    schema.insert("title".to_owned(), "tidegate scenario".into());
    let mut text = format!("{:#}", schema.to_value());
    text.push('\n');
    text
}
