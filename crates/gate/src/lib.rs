//! The gate: session control and dual-queue management on real traffic.
//!
//! The datapaths are two programs in the kernel (`bpf/`), at the egress of an
//! interface. A law of `core` sets their knobs at the end of each epoch. The
//! programs refuse packets only while the process renews their lease.
//!
//! | module       | what it is |
//! |--------------|------------|
//! | `cli`        | the commands of `tidegated`, one file each |
//! | `config`     | the configuration file, checked |
//! | `controller` | the loop: lease, epochs, signals, one thread |
//! | `shared`     | the structures in the kernel's maps |
//! | `program`    | loading, attaching and reading the programs |
//! | `hook`       | attaches a program, by tcx or by clsact |
//! | `placement`  | loads and attaches the programs of a file, or keeps the earlier ones |
//! | `link`       | interface, queue and shaper, by netlink |
//! | `filters`    | the filters at an interface: ours and those of others |
//! | `claim`      | one gate for an interface |
//! | `elsewhere`  | what the other interfaces of the machine do |
//! | `bypass`     | packets that pass the interface and not the gate |
//! | `observe`    | what was seen, and the configuration that follows |
//! | `orders`     | what an operator asks of a running gate |
//! | `clean`      | removes what gates that were killed have left |
//! | `epoch`      | one step of the law: from the kernel's counts to a decision |
//! | `ends`       | the number of ended sessions, estimated from the cells |
//! | `flood`      | the alarm: admitted sessions that never end |
//! | `journal`    | the log of decisions, one line per epoch |
//! | `status`     | the state of a running gate, over a socket |
//! | `who`        | a view by client: who was refused, and how long each waited |
//! | `metrics`    | the same for Prometheus |
//! | `page`       | the same for a browser, with the last hour and the orders |
//! | `http`       | answers the questions for both, few at a time |
//! | `service`    | what systemd is told |
//! | `doctor`     | checks whether a gate can work on this machine |

pub mod bypass;
pub mod claim;
pub mod clean;
pub mod cli;
pub mod config;
pub mod controller;
pub mod doctor;
pub mod elsewhere;
pub mod ends;
pub mod epoch;
pub mod filters;
pub mod flood;
pub mod hook;
pub mod http;
pub mod journal;
pub mod link;
pub mod metrics;
pub mod observe;
pub mod orders;
pub mod page;
pub mod placement;
pub mod privileges;
pub mod program;
pub mod service;
pub mod shared;
pub mod status;
pub mod who;
