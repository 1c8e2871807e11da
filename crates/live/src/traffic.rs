//! Real TCP sessions with the arrivals and sizes of a scenario: the very flows
//! that the simulator draws for that scenario and seed.
//!
//! One process serves, the other opens sessions; whichever of the two sends the
//! data is the scenario's choice (`direction`). What became of every flow is a
//! row with the columns of the simulator's `flows` table.
//!
//! | module    | what it is |
//! |-----------|------------|
//! | `plan`    | the flows of a scenario, in the order of their starts |
//! | `request` | the first bytes of a session |
//! | `client`  | opens sessions and times them |
//! | `server`  | takes and gives data, and remembers what it sent |
//! | `diag`    | what the kernel says of a connection |
//! | `record`  | what became of a flow, and the table |
//!
//! What a socket does not tell is estimated, as `record` says. The hosts are as
//! they are: of a class's transport only the segment size and the congestion
//! control are set, where the kernel has it.

pub mod client;
mod diag;
pub mod plan;
pub mod record;
mod request;
pub mod server;
