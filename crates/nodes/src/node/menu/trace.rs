//! ActiveTraceroute: each node on the path adds itself, the time and its queue; the last one, or
//! each one, returns the list (lgc, Table 1).

use tidegate_core::active::message::{Hop, MOST_HOPS, Trace, service};
use tidegate_core::active::{Address, Header};

use crate::node::reason::Reason;
use crate::node::service::{Answer, Request, Service};
use crate::node::state::Core;

struct ActiveTraceroute;

pub(super) fn make() -> Box<dyn Service> {
    Box::new(ActiveTraceroute)
}

impl Service for ActiveTraceroute {
    fn name(&self) -> &'static str {
        "active-traceroute"
    }

    fn numbers(&self) -> &'static [u16] {
        &[service::TRACE, service::TRACED]
    }

    fn serve(&mut self, request: &Request<'_>, node: &mut Core) -> Answer {
        let Ok(mut trace) = Trace::decode(request.payload) else {
            return Answer::Drop(Reason::Malformed);
        };
        let (header, here) = (&request.header, node.address());
        if header.service == service::TRACED {
            if header.destination != here {
                return Answer::Forward(request.payload.to_vec());
            }
            node.traced(header.number, header.source, trace);
            return Answer::Done;
        }
        if trace.hops.len() >= MOST_HOPS {
            return Answer::Drop(Reason::Expired);
        }
        trace.hops.push(Hop {
            node: here,
            at_us: node.clock_us(),
            queue_packets: node.queue_towards(header.destination).min(u32::from(u16::MAX)) as u16,
        });
        let last = header.destination == here;
        if last || (trace.every_hop && header.source != here) {
            report(node, header, here, &trace);
        }
        if last { Answer::Done } else { Answer::Forward(trace.encode()) }
    }
}

/// Sends the recorded hops back to the origin of the trace.
fn report(node: &mut Core, header: &Header, here: Address, trace: &Trace) {
    let back = Header {
        active: true,
        source: here,
        destination: header.source,
        previous: here,
        service: service::TRACED,
        number: header.number,
        life_ms: header.life_ms.max(1_000),
    };
    node.send(&back, &trace.encode());
}
