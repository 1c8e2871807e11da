//! Scenario documents: what is read, drawn and refused.
//!
//! One binary, as each one is linked by itself.

mod axes;
mod damaged_files;
mod draws;
mod load;
mod outlook;
mod properties;
mod queues;
mod rates;
mod replay;
mod topology;
mod udp;
mod video;
