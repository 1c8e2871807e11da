//! The interface and its queue, by netlink: properties, counters of the queue,
//! and a shaper if the real queue is on a later device.

use std::io;

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkLayerType, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcOption, TcStats2};
use netlink_sys::protocols::NETLINK_ROUTE;
use tidegate_core::units::Rate;

use tidegate_common::netlink;

/// Parent of a root queue (`TC_H_ROOT`).
const ROOT: u32 = 0xffff_ffff;
/// Parent of clsact (`TC_H_CLSACT`).
const CLSACT: u32 = 0xffff_fff1;
/// Handle of our shapers, by which they are recognised: 7d00:
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
    /// Its name, which may change.
    pub name: String,
    /// Whether its packets start with an Ethernet header.
    pub ethernet: bool,
    /// Whether it is an ifb: packets that came in elsewhere leave by it, and none come in.
    pub ifb: bool,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Bytes that left by it.
    pub sent: Traffic,
    /// Bytes that came in by it.
    pub received: Traffic,
}

/// What passed an interface in one direction; grows until the interface is made anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The root queue of an interface. Its counters grow as long as it is the same queue
/// ([`Queue::continues`]); those of 32 bits wrap around.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Queue {
    /// Its kind: `fq_codel`, `tbf`, `noqueue` ...
    pub kind: String,
    /// Its handle; zero for the kernel's default queue.
    pub handle: u32,
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Packets waiting.
    pub waiting: u32,
    /// Bytes waiting.
    pub backlog: u32,
}

impl Queue {
    /// Whether the length in the kernel's structure counts all waiting packets:
    /// some kinds count per CPU or in child queues.
    pub fn tells_its_length(&self) -> bool {
        !matches!(self.kind.as_str(), "pfifo_fast" | "mq" | "mqprio" | "cake_mq" | "noqueue" | "")
    }

    /// Whether packets can wait in it.
    pub fn holds_packets(&self) -> bool {
        !matches!(self.kind.as_str(), "noqueue" | "")
    }

    /// Whether this reading goes on from that one. If not, the queue was made anew in between: it has
    /// another kind or handle, or a counter went back. None of 32 bits goes half around in an epoch.
    pub fn continues(&self, before: &Queue) -> bool {
        let went_back = |before: u32, now: u32| now.wrapping_sub(before) > u32::MAX / 2;
        (&self.kind, self.handle) == (&before.kind, before.handle)
            && self.bytes >= before.bytes
            && !went_back(before.packets, self.packets)
            && !went_back(before.drops, self.drops)
    }

    /// Whether it is our shaper.
    pub fn is_ours(&self) -> bool {
        self.kind == "tbf" && self.handle == OURS
    }
}

/// Asks the kernel about interfaces and their queues.
pub struct Netlink {
    pub(super) kernel: netlink::Netlink,
}

impl Netlink {
    /// Opens the socket, in the network namespace of the process.
    ///
    /// # Errors
    /// The kernel has no such socket for us.
    pub fn open() -> io::Result<Netlink> {
        Ok(Netlink { kernel: netlink::Netlink::open(NETLINK_ROUTE)? })
    }

    /// The interface of that name; none: it does not exist.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn interface(&mut self, name: &str) -> io::Result<Option<Interface>> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        self.link(message)
    }

    /// The interface with that number; none: it does not exist.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn interface_at(&mut self, index: i32) -> io::Result<Option<Interface>> {
        let mut message = LinkMessage::default();
        message.header.index = index.cast_unsigned();
        self.link(message)
    }

    fn link(&mut self, message: LinkMessage) -> io::Result<Option<Interface>> {
        let answers = match self.kernel.ask(RouteNetlinkMessage::GetLink(message), 0) {
            Ok(answers) => answers,
            Err(error) if error.raw_os_error() == Some(19) => return Ok(None), // ENODEV
            Err(error) => return Err(error),
        };
        Ok(answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) => Some(interface(&link)),
            _ => None,
        }))
    }

    /// All interfaces of the network namespace.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn interfaces(&mut self) -> io::Result<Vec<Interface>> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let answers = self.kernel.ask(request, NLM_F_DUMP)?;
        Ok(answers
            .into_iter()
            .filter_map(|answer| match answer {
                RouteNetlinkMessage::NewLink(link) => Some(interface(&link)),
                _ => None,
            })
            .collect())
    }

    /// The queues and hooks of an interface, each with its parent.
    fn disciplines(&mut self, index: i32) -> io::Result<Vec<(u32, Queue)>> {
        let all = self.all_disciplines(index)?;
        let here = |(at, parent, queue)| (at == index).then_some((parent, queue));
        Ok(all.into_iter().filter_map(here).collect())
    }

    /// Those of all interfaces: the number of the interface, the parent, the queue. The kernel may
    /// leave out others than the one that is asked about; 0: all.
    fn all_disciplines(&mut self, index: i32) -> io::Result<Vec<(i32, u32, Queue)>> {
        let message = TcMessage::with_index(index);
        let answers =
            self.kernel.ask(RouteNetlinkMessage::GetQueueDiscipline(message), NLM_F_DUMP)?;
        Ok(answers
            .into_iter()
            .filter_map(|answer| match answer {
                RouteNetlinkMessage::NewQueueDiscipline(tc) => {
                    Some((tc.header.index, tc.header.parent.into(), queue(&tc)))
                }
                _ => None,
            })
            .collect())
    }

    /// The root queues of all interfaces, each with the number of its interface.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn queues(&mut self) -> io::Result<Vec<(i32, Queue)>> {
        let all = self.all_disciplines(0)?;
        let root = |(at, parent, queue)| (parent == ROOT).then_some((at, queue));
        Ok(all.into_iter().filter_map(root).collect())
    }

    /// The root queue of an interface; none: it is gone.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn queue(&mut self, index: i32) -> io::Result<Option<Queue>> {
        let found = self.disciplines(index)?;
        Ok(found.into_iter().find(|(parent, _)| *parent == ROOT).map(|(_, queue)| queue))
    }

    /// Whether the interface has a clsact hook, which holds the filters.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn has_clsact(&mut self, index: i32) -> io::Result<bool> {
        Ok(self.disciplines(index)?.iter().any(|(parent, _)| *parent == CLSACT))
    }

    /// Removes the clsact hook if it holds no filter; whether it is removed.
    ///
    /// # Errors
    /// The kernel does not answer, or refuses.
    pub fn remove_empty_clsact(&mut self, index: i32) -> io::Result<bool> {
        if !self.filters(index)?.is_empty() {
            return Ok(false);
        }
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::from(CLSACT);
        message.header.handle = TcHandle::from(0xffff_0000);
        message.attributes.push(TcAttribute::Kind("clsact".to_owned()));
        self.kernel.ask(RouteNetlinkMessage::DelQueueDiscipline(message), NLM_F_ACK)?;
        Ok(true)
    }

    /// Limits the rate of an interface, so that the queue builds up here.
    ///
    /// # Errors
    /// The kernel refuses, or the interface has a queue that is not ours.
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
        // over the kernel's default queue, a root queue is created, not replaced
        let flags = if there.handle == 0 { flags & !NLM_F_EXCL | NLM_F_REPLACE } else { flags };
        self.kernel.ask(RouteNetlinkMessage::NewQueueDiscipline(message), flags)?;
        Ok(())
    }

    /// Removes our shaper; the kernel's default queue returns.
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

fn interface(link: &LinkMessage) -> Interface {
    let mut found = Interface {
        index: link.header.index.cast_signed(),
        name: String::new(),
        ethernet: matches!(
            link.header.link_layer_type,
            LinkLayerType::Ether | LinkLayerType::Loopback
        ),
        ifb: false,
        mtu: 1500,
        sent: Traffic::default(),
        received: Traffic::default(),
    };
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::IfName(name) => found.name.clone_from(name),
            LinkAttribute::Mtu(mtu) => found.mtu = *mtu,
            LinkAttribute::LinkInfo(parts) => {
                found.ifb = parts.contains(&LinkInfo::Kind(InfoKind::Ifb));
            }
            LinkAttribute::Stats64(stats) => {
                found.sent = Traffic { packets: stats.tx_packets, bytes: stats.tx_bytes };
                found.received = Traffic { packets: stats.rx_packets, bytes: stats.rx_bytes };
            }
            _ => {}
        }
    }
    found
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

/// Size of the bucket: one millisecond at `rate`, at least two packets with their headers.
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
    parms.extend([0; 8]); // buffer in ticks, and mtu: given in bytes by an attribute
    parms
}

#[cfg(test)]
mod tests {
    use super::*;

    // Linux's mq_dump and cake_mq_dump (Linux 7.0) sum the lengths of their children when they are
    // asked, mqprio's dump too; pfifo_fast counts per processor. In between the structure says 0.
    #[test]
    fn a_queue_that_sums_when_it_is_asked_does_not_tell_its_length() {
        let tells = |kind: &str| Queue { kind: kind.into(), ..Queue::default() }.tells_its_length();
        for kind in ["mq", "mqprio", "cake_mq", "pfifo_fast", "noqueue", ""] {
            assert!(!tells(kind), "{kind}");
        }
        for kind in ["fq_codel", "cake", "tbf", "htb", "bfifo"] {
            assert!(tells(kind), "{kind}");
        }
    }

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
