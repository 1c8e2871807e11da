//! The gate: session control and dual-queue management on real traffic.
//!
//! The datapaths are two programs in the kernel (`bpf/`), at the egress
//! of an interface; the controller is a law of `core`, run by the controller.
//! What the programs decide holds while the controller renews their lease.
//!
//! | module       | what it is |
//! |--------------|------------|
//! | `config`     | the file that says what a gate does, checked |
//! | `controller` | the loop: lease, epochs, signals, one thread |
//! | `shared`     | the structures that lie in the kernel's maps |
//! | `program`    | loading, attaching and reading the programs |
//! | `placement`  | the programs at an interface: all of a file's, or those of before |
//! | `link`       | interface, queue and shaper, by netlink |
//! | `epoch`      | from the kernel's counts to what a law reads, and what it decided |
//! | `ends`       | how many sessions ended, from what the cells have seen |
//! | `flood`      | when refusing does harm: admitted sessions that never end |
//! | `onset`      | when refusing begins to help: admitted sessions that pile up |
//! | `journal`    | the decisions of the law, a line each |
//! | `status`     | what a running gate says of itself, over a socket |
//! | `metrics`    | the same for Prometheus |
//! | `doctor`     | what this machine can do, and what is in the way |

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
