//! Real TCP sessions with the arrivals and sizes of a scenario: the same flows
//! that the simulator draws for that scenario and seed.
//!
//! One process serves, the other opens sessions; the scenario's `direction` sets
//! which of them sends the data. The result is a table with one row per flow and
//! the columns of the simulator's `flows`.
//!
//! | module    | what it is |
//! |-----------|------------|
//! | `plan`    | the flows of a scenario, in the order of their starts |
//! | `request` | the first bytes of a session |
//! | `client`  | opens sessions and measures them |
//! | `server`  | receives and sends data, and records what it sent |
//! | `socket`  | the bytes of a socket, and the kernel's counts of it |
//! | `record`  | the result of a flow, and the table |
//! | `room`    | what this machine has no room for |
//! | `late`    | how late this process is woken |
//!
//! Values that the socket does not provide are estimated, see `record`. Of a
//! class's transport, only the segment size and the congestion control are set;
//! everything else is as the hosts have it.

pub mod client;
mod late;
pub mod plan;
pub mod record;
mod request;
mod room;
pub mod server;
mod socket;
