//! Why a node drops a datagram: counter, metric label and status field.

/// A reason to drop a datagram, or to refuse its request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// The bytes are not a datagram, or the payload does not suit its service.
    Malformed,
    /// The sender is not a neighbour.
    Stranger,
    /// The `previous` field does not name the neighbour that sent it.
    WrongPrevious,
    /// Its lifetime is over.
    Expired,
    /// A filter drops it.
    Filtered,
    /// It requests a service that is not on the menu.
    UnknownService,
    /// No route leads to its destination.
    NoRoute,
    /// The queue of its link was full.
    QueueFull,
    /// A request with a wrong authentication code, or on a link without a key.
    Forged,
    /// A request with an old sequence number.
    Replayed,
    /// A request that is too old, or from too far in the future.
    Stale,
    /// A request from a neighbour to which the origin's packets are not sent.
    NotDownstream,
    /// The table of filters is full.
    FiltersFull,
    /// The table of origins at the sink is full.
    ConnectionsFull,
    /// The socket refused it.
    SendFailed,
}

impl Reason {
    /// Every reason, in the order of the counters.
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
