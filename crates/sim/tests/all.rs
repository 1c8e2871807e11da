//! Whole simulations: what a scenario comes to.
//!
//! One binary, as each one is linked by itself.

mod acks;
mod aqm;
mod arrivals;
mod bbr3;
mod blitz;
mod capture;
mod clients;
mod closed_form;
mod codel;
mod combinations;
mod common;
mod controls;
mod dqm;
mod ecn;
mod filters;
mod fq_pie;
mod glance;
mod guests;
mod holes;
mod hosts;
mod identities;
mod l4s;
mod ledbat;
mod links;
mod long;
mod lookahead;
mod loss;
mod mishaps;
mod ns2;
mod own_control;
mod own_law;
mod pages;
mod queues;
mod rates;
mod receivers;
mod reno;
mod replay;
mod seams;
mod series;
mod thresholds;
mod topologies;
mod transport;
mod udp;
mod video;
