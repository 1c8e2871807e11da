//! The filters at an interface: those of the gate, and those of others.
//!
//! The kernel says of a filter its name (`FUNCTION:[ID]`, as the loader wrote it), to
//! everybody. A look-up of the program by its id needs more rights than the gate keeps.

use std::fmt::{self, Display};
use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_DUMP};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{
    TcAttribute, TcFilterBpfOption, TcHandle, TcHeader, TcMessage, TcOption,
};

use super::link::Netlink;
pub use tidegate_tcx::InterfaceSide;

/// The functions of the gate's programs (`bpf/`).
const OURS: [&str; 2] = ["tidegate_gate", "tidegate_ends"];

/// The parent of the filters at a side (`TC_H_MIN_INGRESS`, `TC_H_MIN_EGRESS`).
fn parent(side: InterfaceSide) -> TcHandle {
    TcHandle::from(match side {
        InterfaceSide::Ingress => 0xffff_fff2,
        InterfaceSide::Egress => 0xffff_fff3,
    })
}

/// A filter at an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcFilter {
    /// Where it is.
    pub side: InterfaceSide,
    /// Its priority: lower ones decide first.
    pub priority: u32,
    /// Its kind: `bpf`, `u32`, `flower` ...
    pub kind: String,
    /// Name of a program; empty: it has none.
    pub name: String,
    handle: u32,
    /// The lower half of `tcm_info`: the protocol.
    protocol: u32,
}

impl TcFilter {
    fn new(side: InterfaceSide, message: &TcMessage) -> TcFilter {
        let info = message.header.info;
        let mut filter = TcFilter {
            side,
            priority: info >> 16,
            kind: String::new(),
            name: String::new(),
            handle: message.header.handle.into(),
            protocol: info & 0xffff,
        };
        for attribute in &message.attributes {
            match attribute {
                TcAttribute::Kind(kind) => filter.kind.clone_from(kind),
                TcAttribute::Options(options) => {
                    for option in options {
                        if let TcOption::Bpf(TcFilterBpfOption::ProgName(name)) = option {
                            filter.name.clone_from(name);
                        }
                    }
                }
                _ => {}
            }
        }
        filter
    }

    /// Whether it is one of the gate's, of this process or of an earlier one.
    pub fn is_ours(&self) -> bool {
        let function = self.name.split_once(":[").map_or("", |(function, _)| function);
        self.kind == "bpf" && OURS.contains(&function)
    }
}

impl Display for TcFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} filter", self.kind)?;
        if !self.name.is_empty() {
            write!(f, " {}", self.name)?;
        }
        write!(f, " at {}, priority {}", self.side, self.priority)
    }
}

impl Netlink {
    /// The filters at both sides of an interface.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn filters(&mut self, index: i32) -> io::Result<Vec<TcFilter>> {
        let mut found = Vec::new();
        for side in InterfaceSide::ALL {
            let mut message = TcMessage::with_index(index);
            message.header.parent = parent(side);
            let request = RouteNetlinkMessage::GetTrafficFilter(message);
            for answer in self.kernel.ask(request, NLM_F_DUMP)? {
                match answer {
                    // a priority without a handle stands for all of its filters
                    RouteNetlinkMessage::NewTrafficFilter(tc)
                        if tc.header.index == index && u32::from(tc.header.handle) != 0 =>
                    {
                        found.push(TcFilter::new(side, &tc));
                    }
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    /// Removes a filter.
    ///
    /// # Errors
    /// The kernel refuses, or does not answer.
    pub fn remove_filter(&mut self, index: i32, filter: &TcFilter) -> io::Result<()> {
        let message = TcMessage::from_parts(
            TcHeader {
                index,
                parent: parent(filter.side),
                handle: TcHandle::from(filter.handle),
                info: filter.priority << 16 | filter.protocol,
                ..TcHeader::default()
            },
            vec![TcAttribute::Kind(filter.kind.clone())],
        );
        self.kernel.ask(RouteNetlinkMessage::DelTrafficFilter(message), NLM_F_ACK).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // libbpf, bpf_tc_attach: the name of a filter is that of its function, then its id.
    #[test]
    fn only_bpf_filters_with_the_names_of_our_functions_are_ours() {
        let filter = |kind: &str, name: &str| TcFilter {
            side: InterfaceSide::Egress,
            priority: 7700,
            kind: kind.to_owned(),
            name: name.to_owned(),
            handle: 1,
            protocol: 0,
        };
        for (kind, name, ours) in [
            ("bpf", "tidegate_gate:[17]", true),
            ("bpf", "tidegate_ends:[18]", true),
            ("bpf", "tidegate_gate", false),
            ("bpf", "other_gate:[20]", false),
            ("bpf", "", false),
            ("u32", "tidegate_gate:[17]", false),
        ] {
            assert_eq!(filter(kind, name).is_ours(), ours, "{kind} {name}");
        }
    }
}
