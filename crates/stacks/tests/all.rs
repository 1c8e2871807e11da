//! Real stacks and their controls in whole simulations.

mod common;
mod controls;
mod drills;
mod floats;
mod flows;
mod found;
mod pages;
mod payloads;
mod qlog;
mod smoltcp;
mod tls;
