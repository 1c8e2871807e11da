//! The program `tidegated` and its nodes as processes.
//!
//! One binary, as each one is linked separately.

mod help;
mod processes;
