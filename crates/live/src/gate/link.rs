//! The interface and its queue, by netlink: what it is, what its queue has
//! sent, lost and holds, and a shaper where the real queue sits behind.

use std::io;

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkLayerType, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcOption, TcStats2};
use netlink_sys::protocols::NETLINK_ROUTE;
use tidegate_core::units::Rate;

use crate::netlink;

/// Where a root queue hangs (`TC_H_ROOT`).
const ROOT: u32 = 0xffff_ffff;
/// Where clsact hangs (`TC_H_CLSACT`).
const CLSACT: u32 = 0xffff_fff1;
/// Its two sides (`TC_H_MIN_INGRESS`, `TC_H_MIN_EGRESS`).
const SIDES: [u32; 2] = [0xffff_fff2, 0xffff_fff3];
/// The handle by which a shaper of ours is known again: 7d00:
const OURS: u32 = 0x7d00_0000;
/// Attributes of a token bucket filter (linux/pkt_sched.h).
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_BURST: u16 = 6;
const LINKLAYER_ETHERNET: u8 = 1;

/// An interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its number, in its network namespace.
    pub index: i32,
    /// Whether its packets start at an Ethernet header.
    pub ethernet: bool,
    /// Largest IP packet, bytes.
    pub mtu: u32,
}

/// The root queue of an interface; the numbers only grow, the 32-bit ones around.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Queue {
    /// Its kind: `fq_codel`, `tbf`, `noqueue` ...
    pub kind: String,
    /// Its handle; zero for one that the kernel chose itself.
    pub handle: u32,
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u32,
    /// Packets lost.
    pub drops: u32,
    /// Packets that wait.
    pub waiting: u32,
    /// Bytes that wait.
    pub backlog: u32,
}

impl Queue {
    /// Whether the length in the kernel's own structure is that of what waits:
    /// others keep it per CPU or in their leaves.
    pub fn tells_its_length(&self) -> bool {
        !matches!(self.kind.as_str(), "pfifo_fast" | "mq" | "mqprio" | "noqueue" | "")
    }

    /// Whether anything can wait in it.
    pub fn holds_packets(&self) -> bool {
        !matches!(self.kind.as_str(), "noqueue" | "")
    }

    /// Whether it is a shaper of ours.
    pub fn is_ours(&self) -> bool {
        self.kind == "tbf" && self.handle == OURS
    }
}

/// Asks the kernel about interfaces and their queues.
pub struct Netlink {
    kernel: netlink::Netlink,
}

impl Netlink {
    /// Opens the socket, in the network namespace of the process.
    ///
    /// # Errors
    /// The kernel has no such socket for us.
    pub fn open() -> io::Result<Netlink> {
        Ok(Netlink { kernel: netlink::Netlink::open(NETLINK_ROUTE)? })
    }

    /// The interface of that name; none: there is none.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn interface(&mut self, name: &str) -> io::Result<Option<Interface>> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        let answers = match self.kernel.ask(RouteNetlinkMessage::GetLink(message), 0) {
            Ok(answers) => answers,
            Err(error) if error.raw_os_error() == Some(19) => return Ok(None), // ENODEV
            Err(error) => return Err(error),
        };
        Ok(answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) => Some(Interface {
                index: link.header.index.cast_signed(),
                ethernet: matches!(
                    link.header.link_layer_type,
                    LinkLayerType::Ether | LinkLayerType::Loopback
                ),
                mtu: link
                    .attributes
                    .iter()
                    .find_map(|attribute| match attribute {
                        LinkAttribute::Mtu(mtu) => Some(*mtu),
                        _ => None,
                    })
                    .unwrap_or(1500),
            }),
            _ => None,
        }))
    }

    /// The queues and hooks of an interface, each with where it hangs.
    fn disciplines(&mut self, index: i32) -> io::Result<Vec<(u32, Queue)>> {
        let message = TcMessage::with_index(index);
        let answers =
            self.kernel.ask(RouteNetlinkMessage::GetQueueDiscipline(message), NLM_F_DUMP)?;
        Ok(answers
            .into_iter()
            .filter_map(|answer| match answer {
                RouteNetlinkMessage::NewQueueDiscipline(tc) if tc.header.index == index => {
                    Some((tc.header.parent.into(), queue(&tc)))
                }
                _ => None,
            })
            .collect())
    }

    /// The root queue of an interface; none: it is gone.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn queue(&mut self, index: i32) -> io::Result<Option<Queue>> {
        let found = self.disciplines(index)?;
        Ok(found.into_iter().find(|(parent, _)| *parent == ROOT).map(|(_, queue)| queue))
    }

    /// Whether the interface has the hook that filters hang in.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn has_clsact(&mut self, index: i32) -> io::Result<bool> {
        Ok(self.disciplines(index)?.iter().any(|(parent, _)| *parent == CLSACT))
    }

    /// Takes the hook away if nothing hangs in it; whether it is gone.
    ///
    /// # Errors
    /// The kernel does not answer, or refuses.
    pub fn remove_empty_clsact(&mut self, index: i32) -> io::Result<bool> {
        for side in SIDES {
            let mut message = TcMessage::with_index(index);
            message.header.parent = TcHandle::from(side);
            let filters =
                self.kernel.ask(RouteNetlinkMessage::GetTrafficFilter(message), NLM_F_DUMP)?;
            if !filters.is_empty() {
                return Ok(false);
            }
        }
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::from(CLSACT);
        message.header.handle = TcHandle::from(0xffff_0000);
        message.attributes.push(TcAttribute::Kind("clsact".to_owned()));
        self.kernel.ask(RouteNetlinkMessage::DelQueueDiscipline(message), NLM_F_ACK)?;
        Ok(true)
    }

    /// Lets an interface send no faster than `rate`, so that the queue is here.
    ///
    /// # Errors
    /// The kernel refuses, or somebody else's queue is there.
    pub fn shape(&mut self, interface: &Interface, rate: Rate, buffer: u32) -> io::Result<()> {
        let there = self.queue(interface.index)?.unwrap_or_default();
        if there.handle != 0 && !there.is_ours() {
            let what = format!("the interface has a queue of its own ({})", there.kind);
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        let mut message = TcMessage::from_parts(
            TcHeader {
                index: interface.index,
                parent: TcHandle::from(ROOT),
                handle: TcHandle::from(OURS),
                ..TcHeader::default()
            },
            vec![TcAttribute::Kind("tbf".to_owned())],
        );
        let burst = burst(rate, interface.mtu);
        message.attributes.push(TcAttribute::Options(vec![
            TcOption::Other(DefaultNla::new(TCA_TBF_PARMS, token_bucket(rate, buffer))),
            TcOption::Other(DefaultNla::new(TCA_TBF_BURST, burst.to_ne_bytes().to_vec())),
        ]));
        let flags =
            NLM_F_ACK | NLM_F_CREATE | if there.is_ours() { NLM_F_REPLACE } else { NLM_F_EXCL };
        // over the kernel's own default, a root queue is made, not replaced
        let flags = if there.handle == 0 { flags & !NLM_F_EXCL | NLM_F_REPLACE } else { flags };
        self.kernel.ask(RouteNetlinkMessage::NewQueueDiscipline(message), flags)?;
        Ok(())
    }

    /// Takes a shaper of ours away; the kernel's default comes back.
    ///
    /// # Errors
    /// The kernel does not answer, or refuses.
    pub fn unshape(&mut self, index: i32) -> io::Result<()> {
        if !self.queue(index)?.is_some_and(|queue| queue.is_ours()) {
            return Ok(());
        }
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::from(ROOT);
        message.header.handle = TcHandle::from(OURS);
        self.kernel.ask(RouteNetlinkMessage::DelQueueDiscipline(message), NLM_F_ACK)?;
        Ok(())
    }
}

fn queue(tc: &TcMessage) -> Queue {
    let mut queue = Queue { handle: tc.header.handle.into(), ..Queue::default() };
    for attribute in &tc.attributes {
        match attribute {
            TcAttribute::Kind(kind) => queue.kind.clone_from(kind),
            TcAttribute::Stats2(parts) => {
                for part in parts {
                    match part {
                        TcStats2::Basic(sent) => {
                            (queue.bytes, queue.packets) = (sent.bytes, sent.packets);
                        }
                        TcStats2::Queue(held) => {
                            (queue.waiting, queue.backlog) = (held.qlen, held.backlog);
                            queue.drops = held.drops;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    queue
}

/// What a bucket must hold: a millisecond's worth, and a whole packet with its header.
fn burst(rate: Rate, mtu: u32) -> u32 {
    ((rate.bps() / 8_000) as u32).max(2 * (mtu + 18))
}

/// `struct tc_tbf_qopt`: two rates, then limit, buffer and mtu.
fn token_bucket(rate: Rate, buffer: u32) -> Vec<u8> {
    let bytes_per_s = u32::try_from(rate.bps() / 8).unwrap_or(u32::MAX);
    let mut parms = vec![0, LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    parms.extend(bytes_per_s.to_ne_bytes());
    parms.extend([0; 12]); // no peak rate
    parms.extend(buffer.to_ne_bytes());
    parms.extend([0; 8]); // buffer in ticks, and mtu: said in bytes by an attribute
    parms
}

#[cfg(test)]
mod tests {
    use super::*;

    // linux/pkt_sched.h: tc_ratespec has 12 bytes, its rate at 8; tc_tbf_qopt is two of
    // them, then limit, buffer and mtu: 36 bytes, limit at 24.
    #[test]
    fn a_shaper_is_laid_out_as_the_kernel_reads_it() {
        let parms = token_bucket(Rate::from_bps(9_500_000), 100_000);
        assert_eq!(parms.len(), 36);
        assert_eq!(parms[8..12], 1_187_500u32.to_ne_bytes());
        assert_eq!(parms[24..28], 100_000u32.to_ne_bytes());
    }

    // A millisecond of 1 Gbit/s is 125 kB; at 1 Mbit/s a packet of 1500 B must still fit.
    #[test]
    fn a_bucket_holds_a_packet() {
        assert_eq!(burst(Rate::from_bps(1_000_000_000), 1500), 125_000);
        assert_eq!(burst(Rate::from_bps(1_000_000), 1500), 3036);
    }
}
