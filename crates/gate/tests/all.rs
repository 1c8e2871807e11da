//! The gate's programs in the running kernel.
//!
//! One binary, as each one is linked separately.

mod kernel;
