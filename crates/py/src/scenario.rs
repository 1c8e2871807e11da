//! Scenario documents: checked in the model, opaque in Python.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::import_exception;
use pyo3::prelude::*;
use tidegate_model as model;

use crate::attributes::attributes;

import_exception!(tidegate.errors, ScenarioError);

/// A checked scenario.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Scenario {
    pub(crate) checked: model::scenario::Scenario,
    effective: String,
}

attributes! {
    Scenario as told {
        /// Name of the scenario.
        name: &str = &told.checked.name;
        /// Simulated time in seconds.
        duration_s: f64 = told.checked.duration.secs();
        /// End of the warm-up, in seconds.
        warmup_s: f64 = told.checked.warmup.secs();
        /// Names of the traffic classes, in the order of the document.
        classes: Vec<String> = told.checked.traffic.iter().map(|class| class.name.clone()).collect();
        /// Name of every port, and whether it belongs to a host's access link.
        ports: Vec<(String, bool)> = {
            let ports = told.checked.network.ports.iter();
            ports.map(|port| (port.name.clone(), port.access)).collect()
        };
        /// Names of the classes whose flows belong to people.
        people: Vec<String> = {
            let classes = told.checked.traffic.iter().filter(|class| class.people.is_some());
            classes.map(|class| class.name.clone()).collect()
        };
        /// The classes of UDP whose flows are calls, and no files.
        calls: Vec<String> = {
            let is_call = |class: &&model::scenario::Class| match &class.transport {
                model::scenario::Transport::Udp(udp) => udp.is_call(&class.size),
                _ => false,
            };
            told.checked.traffic.iter().filter(is_call).map(|class| class.name.clone()).collect()
        };
        /// Of each port whose direction is known: its name, and whether it leads to the users
        /// ("download") or away from them ("upload").
        ways: BTreeMap<String, String> = {
            let named = |way| match way {
                model::scenario::Direction::Download => "download".to_owned(),
                model::scenario::Direction::Upload => "upload".to_owned(),
            };
            let ports = told.checked.network.ports.iter();
            ports.filter_map(|port| Some((port.name.clone(), named(port.way?)))).collect()
        };
        /// Warnings about the scenario, one sentence each.
        warnings: Vec<String> = model::lint::warnings(&told.checked);
        /// The expected flows of each class: its name, how many flows start before the end (their mean
        /// number if random), how many listed flows start later, and the mean size in bytes (None:
        /// unlimited).
        expected: Vec<(String, f64, u64, Option<f64>)> = {
            let expected = model::lint::expected(&told.checked).into_iter();
            expected.map(|each| (each.class, each.flows, each.later, each.mean_bytes)).collect()
        };
        /// About how much memory a run takes at the most, in bytes.
        memory_bytes: f64 = model::memory::bytes(&told.checked);
        /// The load offered to each port that data crosses and that is of no access link: its name, its
        /// capacity in bit/s, the payload in parts of what that carries (None: some take what they get),
        /// the same of the others, and with video at its highest rate, not its lowest.
        offered: Vec<(String, f64, Option<f64>, f64, f64)> = {
            let offered = model::offered::offered(&told.checked).into_iter();
            offered
                .map(|each| (each.port, each.rate_bps, each.share, each.ending, each.most))
                .collect()
        };
        /// The shortest and the longest round trip in seconds, if nothing waits anywhere; None: nothing
        /// is acknowledged.
        round_trips_s: Option<(f64, f64)> = {
            let found = model::lint::round_trips(&told.checked);
            found.map(|(low, high)| (low.secs(), high.secs()))
        };
    }

    /// How many of the packets of `flows` flows a port treats differently when all belong to one
    /// flow: none at a port without state per flow.
    fn treated_differently(&self, py: Python<'_>, port: &str, flows: u32) -> PyResult<u32> {
        let ports = &self.checked.network.ports;
        let found = ports.iter().find(|each| each.name == port);
        let found =
            found.ok_or_else(|| PyValueError::new_err(format!("no port is called {port}")))?;
        let counted = py.detach(|| model::flow_state::treated_differently(found, flows));
        counted.map_err(|model::port::NoSuchLaw(law)| {
            PyValueError::new_err(format!("the law {law} at {port} is not at hand, or has failed"))
        })
    }

    /// The effective scenario as TOML, with every default.
    fn show(&self) -> &str {
        &self.effective
    }
}

fn settings_of(pairs: &[(String, String)]) -> Vec<model::Setting<'_>> {
    pairs.iter().map(|(key, value)| model::Setting { key, value }).collect()
}

fn refused(report: &model::Report, colour: bool) -> PyErr {
    ScenarioError::new_err(report.render(colour))
}

/// The paths of the files that a document refers to.
#[pyfunction]
#[pyo3(signature = (text, origin, settings, colour = false))]
pub fn files(
    text: &str,
    origin: &str,
    settings: Vec<(String, String)>,
    colour: bool,
) -> PyResult<Vec<String>> {
    model::files(model::Source { name: origin, text }, &settings_of(&settings))
        .map_err(|report| refused(&report, colour))
}

/// Check a document; `files` holds the content of every file that it refers to.
#[pyfunction]
#[pyo3(signature = (text, origin, settings, files, colour = false))]
pub fn load(
    text: &str,
    origin: &str,
    settings: Vec<(String, String)>,
    files: BTreeMap<String, Vec<u8>>,
    colour: bool,
) -> PyResult<Scenario> {
    let source = || model::Source { name: origin, text };
    let settings = settings_of(&settings);
    let checked = model::load(source(), &settings, &files);
    let checked = checked.map_err(|report| refused(&report, colour))?;
    let effective = model::show(source(), &settings, &files);
    let effective = effective.map_err(|report| refused(&report, colour))?;
    Ok(Scenario { checked, effective })
}

/// The variants of a document, each with its settings.
#[pyfunction]
#[pyo3(signature = (text, origin, settings, colour = false))]
pub fn variants(
    text: &str,
    origin: &str,
    settings: Vec<(String, String)>,
    colour: bool,
) -> PyResult<Vec<(String, model::Assignments)>> {
    model::variants(model::Source { name: origin, text }, &settings_of(&settings))
        .map_err(|report| refused(&report, colour))
}

/// Keys with their values in TOML, and the number of seeds.
type Axes = (Vec<(String, Vec<String>)>, Option<u64>);

/// The axes of a document (`[sweep]`), and its number of seeds.
#[pyfunction]
#[pyo3(signature = (text, origin, settings, colour = false))]
pub fn axes(
    text: &str,
    origin: &str,
    settings: Vec<(String, String)>,
    colour: bool,
) -> PyResult<Axes> {
    let found = model::axes(model::Source { name: origin, text }, &settings_of(&settings))
        .map_err(|report| refused(&report, colour))?;
    Ok((found.axes, found.seeds))
}

/// The columns of each result table: name, unit, kind and meaning.
#[pyfunction]
pub fn columns()
-> BTreeMap<&'static str, Vec<(&'static str, &'static str, &'static str, &'static str)>> {
    let described = |column: &model::columns::Heading| {
        (column.name, column.unit, column.kind.name(), column.meaning)
    };
    let tables = model::columns::TABLES.iter();
    tables.map(|(name, columns)| (*name, columns.iter().map(described).collect())).collect()
}

/// The JSON schema of scenario documents.
#[pyfunction]
pub fn schema() -> String {
    model::schema()
}
