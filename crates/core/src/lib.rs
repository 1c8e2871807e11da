#![doc = include_str!("../README.md")]

// lets `tidegate_core::...` paths in macros resolve inside this crate as they do outside
extern crate self as tidegate_core;

pub mod active;
pub mod drill;
pub mod host;
pub mod law;
mod named;
pub mod packet;
pub mod port;
pub mod units;
pub mod wire;
