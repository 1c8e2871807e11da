//! Why a node drops a datagram: counter, metric label and status field.

tidegate_core::named! {
    /// A reason to drop a datagram, or to refuse its request.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    Reason:
    /// The bytes are not a datagram, or the payload does not suit its service.
    Malformed = "malformed",
    /// The sender is not a neighbour.
    Stranger = "stranger",
    /// The `previous` field does not name the neighbour that sent it.
    WrongPrevious = "wrong_previous",
    /// Its lifetime is over.
    Expired = "expired",
    /// A filter drops it.
    Filtered = "filtered",
    /// It requests a service that is not on the menu.
    UnknownService = "unknown_service",
    /// No route leads to its destination.
    NoRoute = "no_route",
    /// The queue of its link was full.
    QueueFull = "queue_full",
    /// A request with a wrong authentication code, or on a link without a key.
    Forged = "forged",
    /// A request with an old sequence number.
    Replayed = "replayed",
    /// A request that is too old, or from too far in the future.
    Stale = "stale",
    /// A request from a neighbour to which the origin's packets are not sent.
    NotDownstream = "not_downstream",
    /// The table of filters is full.
    FiltersFull = "filters_full",
    /// The table of origins at the sink is full.
    ConnectionsFull = "connections_full",
    /// The socket refused it.
    SendFailed = "send_failed",
}
