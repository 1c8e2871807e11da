//! Connections of quinn in whole simulations.

mod common;
mod floats;
mod flows;
mod pages;
mod payloads;
mod tls;
