//! The gate's programs in the running kernel and on this machine.
//!
//! One binary, as each one is linked separately.

mod golden;
#[path = "../../core/tests/golden/vectors.rs"]
mod golden_vectors;
mod kernel;
mod machine;
mod reader;
