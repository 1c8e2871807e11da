//! Why a node dropped a datagram: counter, metric label and field at once.

/// A reason to drop a datagram, or a request in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// The bytes are no datagram, or its payload is not what its service takes.
    Malformed,
    /// It came from an address that is no neighbour.
    Stranger,
    /// It does not say that it comes from the neighbour that it comes from.
    WrongPrevious,
    /// Its life is over.
    Expired,
    /// A filter took it.
    Filtered,
    /// It asks for a service that is not on the menu.
    UnknownService,
    /// No route leads to its destination.
    NoRoute,
    /// The queue of its link was full.
    QueueFull,
    /// A request whose authentication code is wrong, or that cannot have one.
    Forged,
    /// A request with a sequence number that was there before.
    Replayed,
    /// A request from too long ago, or from too far ahead.
    Stale,
    /// A request from a neighbour that the packets in question are not sent to.
    NotDownstream,
    /// A filter that found no place.
    FiltersFull,
    /// Packets of more connections arrived than the node keeps account of.
    ConnectionsFull,
    /// The socket did not take it.
    SendFailed,
}

impl Reason {
    /// Every reason, in the order of its counter.
    pub const ALL: [Reason; 15] = [
        Reason::Malformed,
        Reason::Stranger,
        Reason::WrongPrevious,
        Reason::Expired,
        Reason::Filtered,
        Reason::UnknownService,
        Reason::NoRoute,
        Reason::QueueFull,
        Reason::Forged,
        Reason::Replayed,
        Reason::Stale,
        Reason::NotDownstream,
        Reason::FiltersFull,
        Reason::ConnectionsFull,
        Reason::SendFailed,
    ];

    /// The name in metrics, logs and the status.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::Malformed => "malformed",
            Reason::Stranger => "stranger",
            Reason::WrongPrevious => "wrong_previous",
            Reason::Expired => "expired",
            Reason::Filtered => "filtered",
            Reason::UnknownService => "unknown_service",
            Reason::NoRoute => "no_route",
            Reason::QueueFull => "queue_full",
            Reason::Forged => "forged",
            Reason::Replayed => "replayed",
            Reason::Stale => "stale",
            Reason::NotDownstream => "not_downstream",
            Reason::FiltersFull => "filters_full",
            Reason::ConnectionsFull => "connections_full",
            Reason::SendFailed => "send_failed",
        }
    }
}
