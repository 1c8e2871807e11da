//! What a capture holds, or why it gives nothing.

use std::net::SocketAddr;

use crate::reason::Reason;

/// The end that sent more data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// The client.
    Upload,
    /// The server.
    Download,
}

/// What a connection is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Transport {
    /// TCP: its bytes are counted by sequence numbers.
    Tcp,
    /// QUIC: its bytes are estimated by the lengths of packets.
    Quic,
}

/// One connection that carried data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedFlow {
    /// Time of its earliest packet, in nanoseconds after the earliest packet of the capture.
    pub start_ns: u64,
    /// Bytes sent by the end that sent more, each counted once if it is TCP.
    pub size_bytes: u64,
    /// Bytes sent by the other end.
    pub other_bytes: u64,
    /// Which end sent more.
    pub direction: Direction,
    /// The end that sent the SYN or, if no SYN was captured, the one with the higher port. Of
    /// QUIC the one that is not at port 443.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Whether the capture contains the end of the transfer: the FIN of the end that sent more, or
    /// a reset. Of QUIC: whether it goes on long enough without a packet of the connection.
    pub closed: bool,
    /// What it is of.
    pub transport: Transport,
}

/// What was left out for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// Why.
    pub reason: Reason,
    /// How many packets or connections.
    pub count: u64,
    /// Bytes of these packets on the link; of a connection without data zero.
    pub bytes: u64,
}

/// The content of a capture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flows {
    /// Connections with data, ordered by start.
    pub flows: Vec<CapturedFlow>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Packets read.
    pub packets: u64,
    /// Their bytes on the link.
    pub bytes: u64,
    /// From the earliest packet to the latest, in nanoseconds; a capture of several interfaces need
    /// not have them in this order.
    pub span_ns: u64,
    /// Why reading stopped before the end of the file, if it did.
    pub broken: Option<String>,
}

impl Flows {
    /// The flows as a table that a scenario replays (CSV).
    pub fn table(&self) -> String {
        let mut table = String::from("start_s,size_bytes,direction\n");
        for flow in &self.flows {
            let direction = match flow.direction {
                Direction::Upload => "upload",
                Direction::Download => "download",
            };
            let start_s = flow.start_ns as f64 / 1e9;
            table.push_str(&format!("{start_s},{},{direction}\n", flow.size_bytes));
        }
        table
    }

    /// How the flows differ from what the file `name` has: where reading ended, what was left out,
    /// and what is an estimate.
    pub fn notes(&self, name: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(why) = &self.broken {
            notes.push(format!("{name}: {why}; the flows up to there are replayed"));
        }
        let quic = self.flows.iter().filter(|flow| flow.transport == Transport::Quic).count();
        if quic > 0 {
            let all = self.flows.len();
            notes.push(format!(
                "{name}: {quic} of {all} flows are connections of QUIC; their sizes are estimated \
                 by the lengths of packets"
            ));
        }
        if !self.skipped.is_empty() {
            let skipped = self.skipped.iter().map(|each| format!("{} {}", each.count, each.reason));
            let skipped: Vec<String> = skipped.collect();
            notes.push(format!("{name}: not among the flows: {}", skipped.join(", ")));
        }
        notes
    }
}

/// Why a file gives no flows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The first bytes are not those of a capture.
    #[error("this is not a packet capture: it begins with {}", shown(.0))]
    NotACapture(Vec<u8>),
    /// The file is empty.
    #[error("this is not a packet capture: it is empty")]
    Empty,
    /// The file ends before the first packet.
    #[error("the capture ends within its header")]
    NoHeader,
    /// The capture has no packets of TCP or QUIC; what it has instead.
    #[error("there is neither TCP nor QUIC in this capture: {0}")]
    NoConnections(String),
}

/// The first bytes of a file as numbers and, if readable, as text.
fn shown(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let numbers = numbers.join(" ");
    if bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return format!("{numbers} ({:?})", String::from_utf8_lossy(bytes));
    }
    numbers
}
