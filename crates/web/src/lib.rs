//! The simulator for a page in a browser: conversions and nothing else.
//!
//! A page hands in files and requests, and reads answers: all decisions are made in the crates below
//! or in the page above, as with the bindings for Python. There is one run at a time; a page that
//! runs two beside each other loads the module twice.
//!
//! The exports are plain functions of numbers (`exports`): the texts of requests and answers lie in
//! memory that both sides see. So nothing has to be generated beside the module, and whoever builds
//! it needs no more than the compiler.

#[cfg(target_arch = "wasm32")]
mod exports;
mod files;
mod laboratory;
mod request;
mod table;

pub use laboratory::Laboratory;

/// The most memory that the module may take in a browser; see build.rs.
pub const MEMORY_BYTES: u64 = 1 << 30;
