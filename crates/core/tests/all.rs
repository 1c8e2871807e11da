//! Laws, queues, ports and bytes on the wire, by their public interfaces.
//!
//! One binary, as each one is linked by itself.

mod cake;
mod codel;
mod contract;
mod dqm;
mod draws;
mod drills;
mod dualpi2;
mod fq_codel;
mod own_law;
mod own_queue_law;
mod pie;
mod port_ahead;
mod port_cargo;
mod port_counters;
mod port_links;
mod port_marks;
mod port_medium;
mod port_pass;
mod port_reference;
mod port_times;
mod pushout;
mod queue_laws;
mod rates;
mod red;
mod session_plants;
mod wire;
mod wire_ip;
