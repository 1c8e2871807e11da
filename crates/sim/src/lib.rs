#![doc = include_str!("../README.md")]

// examples that are copied into this crate name it as everyone else does
extern crate self as tidegate_sim;

mod acks;
mod app;
mod arrivals;
mod backlog;
mod capture;
mod class_rates;
mod datagrams;
mod digest;
#[cfg(test)]
mod draws;
mod engine;
mod error;
mod flight;
mod flow_id;
mod flows;
mod followed;
mod lookahead;
mod names;
mod network;
mod newcomers;
mod probe;
mod qlog;
mod rows;
mod run;
mod run_view;
mod series;
mod services;
pub mod transport;

pub use error::BuildError;
pub use probe::Results;
pub use run::{
    ClassGlance, CrateControls, Custom, Factories, Factory, Glance, PortGlance, Progress,
    Simulation, Stacks, Viewer, WindowGlance,
};
pub use services::Hop;
pub use tidegate_model::columns::{Column, Data};
