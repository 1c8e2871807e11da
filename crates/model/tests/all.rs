//! Scenario documents: what is read, drawn and refused.
//!
//! One binary, as each one is linked by itself.

mod axes;
mod changes;
mod damaged_files;
mod draws;
mod dumbbell;
mod gates;
mod guests;
mod links;
mod load;
mod offered;
mod outlook;
mod pages;
mod properties;
mod queues;
mod rates;
mod replay;
mod settings;
mod tcp;
mod topology;
mod traces;
mod udp;
mod video;

/// How many inputs a property is tried on: all under `make test-long`, else a twentieth.
fn inputs(whole: u32) -> u32 {
    if std::env::var_os("TIDEGATE_LONG").is_some() { whole } else { whole / 20 }
}
