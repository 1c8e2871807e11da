//! An active node: forwards datagrams over virtual links, serves active
//! packets, and filters greedy flows (lgc, 4.1 and 4.2).
//!
//! | module       | what it is                                                       |
//! |--------------|------------------------------------------------------------------|
//! | `config`     | the configuration of a node, checked                             |
//! | `engine`     | handles a datagram, without sockets or clocks                    |
//! | `filtering`  | LGC at the node: triggers, filters, requests to neighbours       |
//! | `link`       | a paced virtual link with its queue                              |
//! | `menu`       | the services that a node offers, and `service`, what one is      |
//! | `state`      | the state of a node, as services see it                          |
//! | `trust`      | authentication codes and sequence numbers between neighbours     |
//! | `source`     | the traffic of a node: `responsive` to losses, or in bursts      |
//! | `sink`       | packets that arrived, by origin; `ranges` of packet numbers      |
//! | `reason`     | why a datagram was dropped                                       |
//! | `status`     | the state of a node; `metrics` for Prometheus                    |
//! | `control`    | the same over HTTP on loopback, and packets to inject            |
//! | `faults`     | injected losses, duplicates and delays, for testbeds             |
//! | `wire`       | the socket, read and written in batches                          |
//! | `run`        | timers and signals                                               |

pub mod config;

pub mod control;
pub mod engine;
pub mod faults;
mod filtering;
pub mod link;
pub mod menu;

mod metrics;
pub mod ranges;
pub mod reason;
mod responsive;

pub mod run;
pub mod service;
pub mod sink;
pub mod source;
pub mod state;
pub mod status;
pub mod trust;
pub mod wire;
