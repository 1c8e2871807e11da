//! Connections of a packet capture, of TCP and QUIC: start, bytes and direction of each.
//!
//! A [`Reader`] takes the bytes of a capture (pcap or pcapng, as written by tcpdump and Wireshark)
//! in pieces of any size and returns [`Flows`]. It opens no file, and its memory is bounded
//! whatever the input is.
//!
//! Bytes of TCP are counted by sequence numbers, not by packet lengths: a retransmitted segment
//! counts once, and neither a snap length that truncates packets nor a packet missing in the capture
//! changes the sum. Those of QUIC, which is encrypted, are estimated by the lengths of its packets.

mod connection;
mod exchange;
mod file;
mod flow;
mod packet;
mod reader;
mod reason;

pub use file::is_capture;
pub use flow::{CapturedFlow, Direction, Error, Flows, Skipped, Transport};
pub use reader::{Reader, read};
pub use reason::{MAX_CONNECTIONS, Reason};
