//! Whole simulations: what a scenario comes to.
//!
//! One binary, as each one is linked by itself.

mod aqm;
mod arrivals;
mod blitz;
mod capture;
mod closed_form;
mod codel;
mod combinations;
mod common;
mod controls;
mod dual_queue;
mod ecn;
mod filters;
mod identities;
mod loss;
mod ns2;
mod own_control;
mod own_law;
mod queues;
mod rates;
mod reno;
mod replay;
mod seams;
mod series;
mod thresholds;
mod topologies;
mod transport;
mod udp;
mod video;
