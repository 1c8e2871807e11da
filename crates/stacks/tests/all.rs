//! Connections of quinn in whole simulations.

mod common;
mod flows;
mod pages;
mod payloads;
