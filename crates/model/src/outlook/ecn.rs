//! Warnings about marks: senders that wait for them in vain, and queues that mark nobody's packets.

use tidegate_core::law::queue::Traits;

use crate::profile::{Ecn, TcpControl};
use crate::scenario::{Class, Codepoint, Port, Transport};

/// Whether the packets of a class are those of L4S; none: they are not ECN-capable.
fn l4s(class: &Class) -> Option<bool> {
    let of = |codepoint: Codepoint| codepoint == Codepoint::Ect1;
    match (&class.transport, class.transport.tcp()) {
        (Transport::Udp(udp), _) => udp.ecn.map(of),
        (_, Some(tcp)) => match tcp.ecn() {
            Ecn::None => None,
            Ecn::Classic | Ecn::Counted => Some(false),
            Ecn::L4s => Some(true),
        },
        _ => None,
    }
}

/// Warns about a class that acts on marks, where no queue on its path marks its packets.
pub(super) fn unmarked(class: &Class, ports: &[&Port]) -> Option<String> {
    let l4s = l4s(class)?;
    if ports.iter().any(|port| port.queue.marks(l4s)) {
        return None;
    }
    let control = class.transport.tcp().map(|tcp| tcp.control);
    let (why, remedy) = match control {
        Some(TcpControl::Prague) => (
            "sends by prague, which goes by marks",
            "write queue = { law = \"dualpi2\" } at its bottleneck",
        ),
        Some(TcpControl::Dctcp) => (
            "sends by dctcp, which goes by marks",
            "write ecn = true at a queue such as red, codel or fq-codel",
        ),
        Some(_) => ("asks for ECN", "write ecn = true at a queue such as red, codel or fq-codel"),
        // without media nothing is done about a mark
        None if !media(class) => return None,
        None => (
            "sends media with ECN",
            "write ecn = true at a queue such as red, codel or fq-codel, or leave `ecn` out",
        ),
    };
    Some(format!("class `{}` {why}, but no queue on its way marks: {remedy}", class.name))
}

fn media(class: &Class) -> bool {
    matches!(&class.transport, Transport::Udp(udp) if udp.media.is_some())
}

/// Warns about a queue that was asked to mark, where nobody's packets can be marked.
pub(super) fn unmarkable(port: &Port, classes: &[&Class]) -> Option<String> {
    let none = !classes.is_empty() && classes.iter().all(|class| l4s(class).is_none());
    (none && port.queue.asked_to_mark()).then(|| {
        format!(
            "the queue at `{}` has ecn = true, but no class that crosses it uses ECN, so it drops \
             as without: write ecn = true into the `tcp` of one of them",
            port.name
        )
    })
}
