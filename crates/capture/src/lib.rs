//! TCP connections of a packet capture: start, bytes and direction of each.
//!
//! A [`Reader`] takes the bytes of a capture (pcap or pcapng, as written by tcpdump and Wireshark)
//! in pieces of any size and returns [`Flows`]. It opens no file, and its memory is bounded
//! whatever the input is.
//!
//! Bytes are counted by sequence numbers, not by packet lengths: a retransmitted segment counts
//! once, and neither a snap length that truncates packets nor a packet missing in the capture
//! changes the sum.

mod connection;
mod file;
mod flow;
mod packet;
mod reader;
mod reason;

pub use flow::{Direction, Error, Flow, Flows, Skipped};
pub use reader::{Reader, read};
pub use reason::{MAX_CONNECTIONS, Reason};
