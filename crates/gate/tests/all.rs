//! The gate's programs in the running kernel, and their reader of headers on this machine.
//!
//! One binary, as each one is linked separately.

mod kernel;
mod reader;
