//! The gate: session control and dual-queue management on real traffic.
//!
//! The datapaths are two programs in the kernel (`bpf/`), at the egress of an
//! interface. A law of `core` sets their knobs at the end of each epoch. The
//! programs refuse packets only while the process renews their lease.
//!
//! | module       | what it is |
//! |--------------|------------|
//! | `config`     | the configuration file, checked |
//! | `controller` | the loop: lease, epochs, signals, one thread |
//! | `shared`     | the structures in the kernel's maps |
//! | `program`    | loading, attaching and reading the programs |
//! | `placement`  | loads and attaches the programs of a file, or keeps the earlier ones |
//! | `link`       | interface, queue and shaper, by netlink |
//! | `epoch`      | one step of the law: from the kernel's counts to a decision |
//! | `ends`       | the number of ended sessions, estimated from the cells |
//! | `flood`      | the alarm: admitted sessions that never end |
//! | `onset`      | the start of refusals: admitted sessions that pile up |
//! | `journal`    | the log of decisions, one line per epoch |
//! | `status`     | the state of a running gate, over a socket |
//! | `metrics`    | the same for Prometheus |
//! | `doctor`     | checks whether a gate can work on this machine |

pub mod config;
pub mod controller;
pub mod doctor;
pub mod ends;
pub mod epoch;
pub mod flood;
pub mod journal;
pub mod link;
pub mod metrics;
pub mod onset;
pub mod placement;
pub mod privileges;
pub mod program;
pub mod shared;
pub mod status;
