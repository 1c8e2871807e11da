//! What a capture may hold, and what is read from it.
//!
//! One binary, as each one is linked by itself.

mod common;
mod connections;
mod damage;
mod formats;
