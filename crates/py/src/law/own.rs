//! Objects of the user's that are called while packets move, and what happens when one fails.
//!
//! The methods of a queue law, a control or a filter return no error to the simulator. A failure is
//! kept here instead: the law is not called again, something harmless stands in for it, and the run
//! ends with the failure after its present slice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PySystemExit, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use tidegate_core::units::Time;

/// The first failure of a run's laws that are called for each packet.
#[derive(Clone, Default)]
pub struct Failure(Arc<Kept>);

#[derive(Default)]
struct Kept {
    there: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Failure {
    /// Keeps an error, unless one is kept already.
    pub fn keep(&self, error: PyErr) {
        let mut kept = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
        self.0.there.store(true, Ordering::Relaxed);
    }

    /// Whether a law has failed.
    pub fn is_there(&self) -> bool {
        self.0.there.load(Ordering::Relaxed)
    }

    /// The error, which is handed out once.
    pub fn take(&self) -> Option<PyErr> {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A law of the user's own: how messages call it.
#[derive(Clone)]
pub struct Named {
    /// What kind of law it is, as in "queue law".
    pub kind: &'static str,
    /// Its name in the scenario.
    pub name: String,
    /// Where its failure is kept.
    pub failure: Failure,
}

impl Named {
    /// Calls the law by `call`, unless a law of this run has failed; none: it has, or does so now.
    pub fn call<R>(
        &self,
        now: Time,
        method: &str,
        call: impl FnOnce(Python<'_>) -> PyResult<R>,
    ) -> Option<R> {
        if self.failure.is_there() {
            return None;
        }
        Python::attach(|py| match call(py) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.failure.keep(noted(py, error, self, method, now));
                None
            }
        })
    }

    /// Refuses an object that lacks one of the methods of a law of this kind.
    pub fn require(&self, object: &Bound<'_, PyAny>, methods: &[&str]) -> PyResult<()> {
        let lacks = |method: &&&str| !has(object, method);
        let Some(missing) = methods.iter().find(lacks) else { return Ok(()) };
        let Named { kind, name, .. } = self;
        Err(PyTypeError::new_err(format!(
            "the {kind} `{name}` ({}) lacks the method `{missing}`\na {kind} has {}; see docs/own-law.md",
            type_name(object),
            methods.iter().map(|each| format!("`{each}`")).collect::<Vec<_>>().join(", "),
        )))
    }
}

/// Adds to an exception in which law it was raised, in which method, and when.
pub fn noted(py: Python<'_>, error: PyErr, law: &Named, method: &str, now: Time) -> PyErr {
    let Named { kind, name, .. } = law;
    let text =
        format!("in `{method}` of the {kind} `{name}`, at {} s of simulated time", now.secs());
    with_note(py, not_an_exit(py, error), &text)
}

/// A call of `sys.exit` as an error: it would end the program without a word.
fn not_an_exit(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PySystemExit>(py) {
        return error;
    }
    let mine = PyRuntimeError::new_err(format!("a law must not exit: {error}"));
    mine.set_cause(py, Some(error));
    mine
}

/// Adds a note to an exception.
pub fn with_note(py: Python<'_>, error: PyErr, text: &str) -> PyErr {
    // without the note the exception itself is still what the user needs
    let _ = error.value(py).call_method1("add_note", (text,));
    error
}

/// Whether an object has a method of this name.
pub fn has(object: &Bound<'_, PyAny>, method: &str) -> bool {
    object.getattr(method).is_ok_and(|found| found.is_callable())
}

/// Refuses an object that lacks one of these methods.
///
/// # Errors
/// `AttributeError`, with the name of the method.
pub fn needs(object: &Bound<'_, PyAny>, methods: &[&str]) -> PyResult<()> {
    let Some(missing) = methods.iter().find(|method| !has(object, method)) else { return Ok(()) };
    let kind = object.get_type().name()?;
    let all = methods.join("` and `");
    Err(PyAttributeError::new_err(format!(
        "a law has the methods `{all}`; `{kind}` has no method `{missing}` (docs/own-law.md)"
    )))
}

/// A method, if the object has it.
pub fn method(object: &Bound<'_, PyAny>, name: &str) -> Option<Py<PyAny>> {
    object.getattr(name).ok().filter(Bound::is_callable).map(Bound::unbind)
}

/// The name of an object's class, or of a class itself.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    let class = object.cast::<PyType>().cloned().unwrap_or_else(|_| object.get_type());
    class.name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// The law for one port: made anew if a class or a function was handed in. An object serves the
/// first port that asks for it; another port gets a copy of it (`before`: as it was handed in).
pub fn for_one_port(given: &Bound<'_, PyAny>, first: bool) -> PyResult<Py<PyAny>> {
    if given.is_instance_of::<PyType>()
        || (given.is_callable() && !has(given, "arrive") && !has(given, "next"))
    {
        return Ok(given.call0()?.unbind());
    }
    if first {
        return Ok(given.clone().unbind());
    }
    let copied = given.py().import("copy")?.call_method1("deepcopy", (given,))?;
    Ok(copied.unbind())
}
