//! Connections of quinn in whole simulations.

mod common;
mod controls;
mod floats;
mod flows;
mod pages;
mod payloads;
mod tls;
