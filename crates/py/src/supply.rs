//! The laws in Python of one run, by the names that the scenario gives them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_core::law::Controller;
use tidegate_core::law::greedy::Filter;
use tidegate_core::law::queue::Discipline;
use tidegate_core::law::rate::RateLaw;
use tidegate_core::law::session::{Counts, Knobs};
use tidegate_model as model;
use tidegate_model::port::PortDraw;
use tidegate_sim as sim;

use crate::law::{
    Admission, Failure, Granting, Named, PythonFilter, PythonLaw, PythonQueue, factory,
    for_one_port, with_note,
};
use crate::scenario::ScenarioError;
use crate::simulation::raised;

/// The names of the stacks that the feature `stacks` builds in.
const NAMES: &[&str] = &["quinn", "noq", "smoltcp"];
/// The stacks of QUIC that are built in.
pub const STACKS: &[&str] = if cfg!(feature = "stacks") { NAMES } else { &[] };

/// The end of the note on an error that a law raised before the run.
const NOTE: &str = "before the run";

/// The laws that the caller passed, and which of them the scenario uses.
pub struct Supply<'a, 'py> {
    laws: Option<&'a Bound<'py, PyDict>>,
    /// Why a law could not be made, or the first failure of one that sees packets.
    pub failure: Failure,
    /// Kinds and names of the laws that see packets.
    used: RefCell<BTreeSet<(&'static str, String)>>,
}

impl<'a, 'py> Supply<'a, 'py> {
    /// The laws of a run.
    pub fn new(laws: Option<&'a Bound<'py, PyDict>>) -> Supply<'a, 'py> {
        Supply { laws, failure: Failure::default(), used: RefCell::default() }
    }

    /// Whether a law of this run sees packets.
    pub fn sees_packets(&self) -> bool {
        !self.used.borrow().is_empty()
    }

    fn object(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        self.laws?.get_item(name).ok()?
    }

    fn named(&self, kind: &'static str, name: &str) -> Named {
        Named { kind, name: name.to_owned(), failure: self.failure.clone() }
    }

    /// A law that sees packets; what it raises when it is made is kept.
    fn made<R>(
        &self,
        kind: &'static str,
        name: &str,
        make: impl FnOnce(&Bound<'py, PyAny>, Named, bool) -> PyResult<R>,
    ) -> Option<R> {
        let object = self.object(name)?;
        let first = self.used.borrow_mut().insert((kind, name.to_owned()));
        let refused = |error| {
            let text = format!("when the {kind} `{name}` was made, {NOTE}");
            self.failure.keep(with_note(object.py(), error, &text));
        };
        make(&object, self.named(kind, name), first).map_err(refused).ok()
    }

    /// Makes a scenario ready to run with these laws, a capture and logs of flows.
    pub fn build(
        &self,
        scenario: &model::scenario::Scenario,
        seed: u64,
        (capture, qlogs): (Option<String>, Vec<(String, u32)>),
    ) -> PyResult<sim::Simulation> {
        let mut gates = |name: &str| -> Option<Box<dyn Controller<Knobs, Counts>>> {
            let law = self.named("session law", name);
            Some(Box::new(PythonLaw::<Admission>::new(self.object(name)?.unbind(), law)))
        };
        let mut rates = |name: &str| -> Option<RateLaw> {
            let law = self.named("rate law", name);
            Some(Box::new(PythonLaw::<Granting>::new(self.object(name)?.unbind(), law)))
        };
        let mut queues = |name: &str, draw: PortDraw| -> Option<Box<dyn Discipline>> {
            let law = self.made("queue law", name, |given, law, first| {
                let object = for_one_port(given, first)?;
                PythonQueue::new(object.bind(given.py()), law, draw)
            })?;
            Some(Box::new(law))
        };
        let mut filters = |name: &str, draw: PortDraw| -> Option<Box<dyn Filter>> {
            let law = self.made("filter", name, |given, law, first| {
                let object = for_one_port(given, first)?;
                PythonFilter::new(object.bind(given.py()), law, draw)
            })?;
            Some(Box::new(law))
        };
        let mut controls = |name: &str, tcp: &model::profile::Tcp| {
            self.made("control", name, |given, law, _| factory(given, law, tcp))
        };
        let parts = sim::Custom {
            laws: Some(&mut gates),
            rate_laws: Some(&mut rates),
            queues: Some(&mut queues),
            filters: Some(&mut filters),
            flow_controls: Some(&mut controls),
            crate_controls: Some(&mut crate_control),
            stacks: Some(&mut stack),
            capture,
            qlogs,
            ..sim::Custom::default()
        };
        sim::Simulation::new(scenario, seed, parts).map_err(|error| match error {
            sim::BuildError::Law(fault) => raised(fault),
            sim::BuildError::NoSuchLaw(name) => ScenarioError::new_err(format!(
                "the scenario names `{name}`, a law of your own, and no such law was handed in\n\
                 give it: --law FILE.py:{name} on the command line, laws={{\"{name}\": ...}} \
                 in Python"
            )),
            sim::BuildError::NoSuchStack(name) => ScenarioError::new_err(no_such_stack(&name)),
            sim::BuildError::NoSuchControl(name) => ScenarioError::new_err(no_such_control(&name)),
            other => ScenarioError::new_err(other.to_string()),
        })
    }
}

/// What makes the stacks, and the controls out of other projects' crates, if they are built in.
#[cfg(feature = "stacks")]
use tidegate_stacks::{controls::factory as crate_control, stack};

#[cfg(not(feature = "stacks"))]
fn stack(_: &model::scenario::Quic) -> Option<tidegate_core::host::Stack> {
    None
}

#[cfg(not(feature = "stacks"))]
fn crate_control(_: &str, _: &model::profile::Tcp, _: u64) -> Option<sim::Factory> {
    None
}

const MAKE_STACKS: &str =
    "run `make stacks` in a checkout of tidegate: it builds the simulator with it";

fn no_such_stack(name: &str) -> String {
    if NAMES.contains(&name) {
        return format!(
            "the scenario asks for QUIC by `{name}`, which this tidegate was built without\n\
             {MAKE_STACKS}"
        );
    }
    format!("no stack of QUIC is named `{name}`\nwrite stack = \"{}\"", NAMES.join("\" or \""))
}

#[cfg(feature = "stacks")]
fn no_such_control(name: &str) -> String {
    let names = tidegate_stacks::controls::NAMES.join(", ");
    format!("no control out of a crate is named `{name}`\nthere are {names}")
}

#[cfg(not(feature = "stacks"))]
fn no_such_control(name: &str) -> String {
    format!(
        "the scenario asks for the control `{name}` of another project, which this tidegate was \
         built without\n{MAKE_STACKS}"
    )
}
