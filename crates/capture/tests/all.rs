//! What a capture may hold, and what is read from it.
//!
//! One binary, as each one is linked by itself.

mod common;
mod connections;
mod damage;
mod formats;
mod quic;

/// How many inputs a property is tried on: all under `make test-long`, else a twentieth.
fn inputs(whole: u32) -> u32 {
    if std::env::var_os("TIDEGATE_LONG").is_some() { whole } else { whole / 20 }
}
