//! ActiveFilter: a neighbour requests a filter (lgc, Appendix I, 3).

use tidegate_core::active::message::{FilterRequest, service};

use crate::node::reason::Reason;
use crate::node::service::{Answer, Request, Service};
use crate::node::state::Core;

struct ActiveFilter;

pub(super) fn make() -> Box<dyn Service> {
    Box::new(ActiveFilter)
}

impl Service for ActiveFilter {
    fn name(&self) -> &'static str {
        "active-filter"
    }

    fn numbers(&self) -> &'static [u16] {
        &[service::FILTER]
    }

    fn serve(&mut self, request: &Request<'_>, node: &mut Core) -> Answer {
        let Ok((filter, signed, tag)) = FilterRequest::decode(request.payload) else {
            return Answer::Drop(Reason::Malformed);
        };
        match node.asked(&request.header, &filter, signed, &tag) {
            Ok(()) => Answer::Done,
            Err(reason) => {
                node.refused(&request.header, &filter, reason);
                Answer::Drop(reason)
            }
        }
    }
}
