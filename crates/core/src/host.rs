//! A host that is not the simulator's own: one end of one connection, which takes and gives the
//! bytes of datagrams.
//!
//! Real transport stacks stand behind this interface, and yours may. A [`Host`] has no clock, no
//! socket and no randomness of its own: the time is an argument, and all that it draws follows
//! from the seed in [`Transfer`]. So a run with it can be repeated, bit for bit.

use crate::packet::Flags;
use crate::units::Time;

/// One end of one connection.
///
/// The carrier calls [`Host::poll`] after every [`Host::receive`] and when [`Host::wake`] is due (of
/// a server [`Host::slack`] later at most), and then [`Host::transmit`] until there is nothing more
/// to send.
pub trait Host {
    /// A datagram has come.
    fn receive(&mut self, now: Time, datagram: &[u8], mark: Mark);

    /// Writes the next datagram into `datagram`, which is empty, and says how it is marked; none:
    /// nothing may be sent now.
    fn transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Mark>;

    /// When [`Host::poll`] is to be called if nothing comes until then ([`Time::NEVER`]: not).
    fn wake(&mut self) -> Time;

    /// Of a server: how much later than [`Host::wake`] says [`Host::poll`] is called at the latest,
    /// where all servers of a class are connections of one program. A packet for any of them wakes
    /// the program, and then all are called that are due. Zero: it has a program of its own.
    fn slack(&self) -> Time {
        Time::ZERO
    }

    /// Does what is due by `now`, reads what has come and hands in what `order` asks for; says how
    /// far this end is.
    fn poll(&mut self, now: Time, order: Order) -> Report;

    /// Whether it can carry objects ([`Transfer::objects`]).
    fn carries_objects(&self) -> bool {
        false
    }

    /// What has come of objects; called after [`Host::poll`] until there is no more.
    fn heard(&mut self) -> Option<Heard> {
        None
    }
}

/// The ECN field of a datagram (RFC 3168, RFC 9331).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mark {
    /// Its sender does not know ECN.
    #[default]
    None,
    /// It may be marked, ECT(0).
    Ect0,
    /// It may be marked and is of a scalable control, ECT(1).
    Ect1,
    /// It was marked.
    Ce,
}

impl Mark {
    /// The same as flags of a packet.
    pub fn flags(self) -> Flags {
        match self {
            Mark::None => Flags::NONE,
            Mark::Ect0 => Flags::ECT,
            Mark::Ect1 => Flags::ECT.with(Flags::L4S),
            Mark::Ce => Flags::ECT.with(Flags::CE),
        }
    }

    /// What the flags of a packet say.
    pub fn of(flags: Flags) -> Mark {
        match flags {
            _ if flags.has(Flags::CE) => Mark::Ce,
            _ if flags.has(Flags::L4S) => Mark::Ect1,
            _ if flags.has(Flags::ECT) => Mark::Ect0,
            _ => Mark::None,
        }
    }
}

/// What the application of an end wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// The transfer.
    #[default]
    GoOn,
    /// No more data than was handed in so far: then the transfer is complete.
    Stop,
    /// The end of the connection, at once.
    Abort,
    /// Of the client: one more object, by a request of so many bytes on a stream of its own.
    Ask(u32),
    /// Of the server: so many bytes in answer to the request of this number.
    Answer(u32, u64),
    /// Of the client of an upload: one more object of so many bytes, on a stream of its own.
    Send(u64),
    /// Of the client: the end of the connection, which needs no more objects.
    Close,
}

/// What has come of objects. The first request of a connection has the number 0, or of an upload
/// the first object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// At the server: the whole request of this number.
    Asked(u32),
    /// At the client: the first bytes of its answer.
    Begins(u32),
    /// At the client: all of it. Of an upload: all of the object is acknowledged.
    Whole(u32),
}

/// Where a connection is, at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// It waits for the other end to open it.
    #[default]
    Waiting,
    /// It opens it.
    Opening,
    /// Data may flow.
    Open,
    /// It has been closed, but late packets may still be answered.
    Closing,
    /// Nothing of it is left.
    Over,
}

/// How far one end of a connection is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Report {
    /// Where the connection is.
    pub phase: Phase,
    /// Whether it ended without its transfer being complete, by a timeout or an error.
    pub failed: bool,
    /// Whether this end knows that the transfer is complete: the receiver of the data has read
    /// it, its sender has every byte acknowledged. Of objects: all that were asked for have come.
    pub complete: bool,
    /// Bytes of data that this end has read in order.
    pub delivered: u64,
    /// Datagrams that this end takes for lost.
    pub lost: u32,
    /// Congestion window in bytes; none: there is none, or it is not known.
    pub window: Option<u64>,
    /// Smoothed round-trip time; none: not measured.
    pub srtt: Option<Time>,
}

/// What a new connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// When it starts.
    pub start: Time,
    /// Bytes of data; none: without end.
    pub size: Option<u64>,
    /// Whether the data goes from the server to the client.
    pub download: bool,
    /// Whether the connection carries objects in place of one transfer; it has no size then. Those
    /// of a download are asked for by [`Order::Ask`], those of an upload sent by [`Order::Send`].
    pub objects: bool,
    /// The most bytes of a datagram, without headers of IP and UDP.
    pub datagram: u16,
    /// All that the two ends draw at random follows from it.
    pub seed: u64,
}

/// The two ends of a new connection.
pub struct Ends {
    /// The end that opens it.
    pub client: Box<dyn Host + Send>,
    /// The end that answers.
    pub server: Box<dyn Host + Send>,
}

/// Makes the two ends of each new connection.
pub type Stack = Box<dyn FnMut(&Transfer) -> Ends + Send>;
