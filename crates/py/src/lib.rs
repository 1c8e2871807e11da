//! The native module of the Python package: conversions and nothing else.
//!
//! All decisions are made in the crates below or in Python above. The exception is the number of
//! events in a slice of some milliseconds, because the simulator itself reads no clock.

mod attributes;
mod capture;
mod columns;
mod greedy;
mod law;
mod scenario;
mod simulation;
mod statistics;
mod supply;
mod units;

use pyo3::prelude::*;

/// Python allocates its objects at multiples of 16 bytes, whatever a type asks for. What is aligned
/// to cache lines, as packets are, lies in a box.
const fn fits_into_an_object<T>() {
    assert!(align_of::<T>() <= 16, "box what is aligned to cache lines");
}

const _: () = {
    fits_into_an_object::<capture::Capture>();
    fits_into_an_object::<scenario::Scenario>();
    fits_into_an_object::<simulation::Simulation>();
    fits_into_an_object::<law::Draw>();
    fits_into_an_object::<law::Found>();
    fits_into_an_object::<law::Next>();
    fits_into_an_object::<law::Packet>();
    fits_into_an_object::<law::Sample>();
    fits_into_an_object::<law::Slot>();
    fits_into_an_object::<law::Waiting>();
};

/// The simulator behind tidegate.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::capture::{Capture, CaptureError};
    #[pymodule_export]
    use crate::greedy::{lgc_look, lgc_permissible_percent};
    #[pymodule_export]
    use crate::law::{
        Congestion, Counts, Decision, Draw, Found, Knobs, Next, Packet, RateCounts, RateKnobs,
        Sample, Signal, Slot, Tcp, Verdict, View, Waiting,
    };
    #[pymodule_export]
    use crate::scenario::{Scenario, axes, columns, files, load, schema, variants};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::statistics::student_t_quantile;
    #[pymodule_export]
    use crate::units::{rate_bps, time_s};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        // defined in Python as subclasses of its TidegateError
        module.add("ScenarioError", py.get_type::<crate::scenario::ScenarioError>())?;
        module.add("LawFault", py.get_type::<crate::simulation::LawFault>())?;
        module.add("STACKS", crate::supply::STACKS)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
