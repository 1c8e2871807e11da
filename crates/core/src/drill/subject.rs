//! What is drilled.

use crate::host::Stack;

/// One of the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathEnd {
    /// The end that opens the connection.
    Client,
    /// The end that answers.
    Server,
}

/// Says of a datagram what it is, in a word without blanks: parts that colons join, and before the
/// first colon the kind, as in `ack:7` or `0..1200:fin`; a kind that begins with a digit is data.
/// Packets that share a datagram are joined by `+`.
pub type WordReader = Box<dyn FnMut(PathEnd, &[u8]) -> String>;

/// A stack that is drilled.
pub struct Subject {
    /// Makes its two ends.
    pub stack: Stack,
    /// Reads its datagrams: one reader for each situation, as it may have to count.
    pub words: WordReader,
}
