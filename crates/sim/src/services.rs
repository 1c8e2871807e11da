//! Routers that can be addressed: what they do with the messages for them.
//!
//! A message is a packet like any other: it crosses links, waits in queues and
//! may be lost. Its `ext` names a service and carries three words. The
//! receiver reads only `ext` and the source.
//!
//! | service | words                             | what the node does                              |
//! |---------|-----------------------------------|-------------------------------------------------|
//! | filter  | origin; end of the asker's filter | filters the origin at its ports to the asker    |
//! | trace   | destination of the path           | answers with the queue of its port to there     |
//! | traced  | that queue; when it was looked at | notes it, for [`Simulation::traced`]             |
//!
//! Only a neighbour can ask for a filter, and only for packets to itself. A node
//! that does not filter ignores the request, as it ignores unknown services.
//!
//! [`Simulation::traced`]: crate::Simulation::traced

use tidegate_core::law::Decision;
use tidegate_core::law::greedy::{Act, Ask, Key, Node};
use tidegate_core::packet::{Ext, Packet};
use tidegate_core::units::Time;
use tidegate_model::scenario::PacketKind;

use crate::flow_id::FlowId;
use crate::network::Network;

/// Bytes of a message on the wire: the header of an active network, IPv4 and UDP.
const SIZE: u16 = 76;
/// Installs a filter.
const FILTER: u16 = 1;
/// Asks for the queue on the path to a node.
const TRACE: u16 = 2;
/// The answer to `TRACE`.
const TRACED: u16 = 3;

/// The answer of a node on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The node that asked.
    pub asker: u16,
    /// The node that answered.
    pub node: u16,
    /// Packets that waited at its port of the path, the one in transmission not counted.
    pub queue_packets: u32,
    /// When it read the queue.
    pub at: Time,
    /// When its answer arrived.
    pub answered: Time,
}

/// A law has decided outside of its interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    pub(crate) time: Time,
    pub(crate) port: u32,
    pub(crate) decision: Decision,
}

impl Network {
    /// Notes a decision of the filter of a port, and sends its requests.
    #[cold]
    pub(crate) fn take_decisions(&mut self, port: u32) {
        let node = self.ends[port as usize].0;
        for Act { decision, ask } in self.ports[port as usize].take_acts() {
            self.decided.push(Decided { time: self.now, port, decision });
            if let Some(Ask::Filter { to, origin, until }) = ask {
                let until = until.ps();
                let words = [origin.0 as u32, (until >> 32) as u32, until as u32];
                self.send_message(node, to.0 as u16, FILTER, words);
            }
        }
    }

    /// Sends a message from one node to another.
    fn send_message(&mut self, src: u16, dst: u16, service: u16, words: [u32; 3]) {
        let message = Packet {
            sent: self.now,
            flow: FlowId::new(FlowId::MESSAGES, 0).0,
            ext: Ext::Active { service, words },
            src,
            dst,
            size: SIZE,
            ..Packet::default()
        };
        if let Some(port) = self.routes.next(src, dst, PacketKind::of(message.flags)) {
            self.answer(port, &message);
        }
    }

    /// A message has reached its node.
    #[cold]
    pub(crate) fn serve(&mut self, message: &Packet) {
        let (node, asker) = (message.dst, message.src);
        let time = |high: u32, low: u32| Time::from_ps(u64::from(high) << 32 | u64::from(low));
        match message.ext {
            Ext::Active { service: FILTER, words: [origin, high, low] }
                if self.now < time(high, low) =>
            {
                self.filter(node, asker, origin as u16);
            }
            Ext::Active { service: TRACE, words: [to, ..] } => {
                self.report_queue(node, asker, to as u16)
            }
            Ext::Active { service: TRACED, words: [queue_packets, high, low] } => {
                let (at, answered) = (time(high, low), self.now);
                self.traced.push(Hop { asker: node, node: asker, queue_packets, at, answered });
            }
            // a service that this node does not have, or that has ended
            _ => {}
        }
    }

    /// Asks every node that forwards on the path for its queue there.
    pub(crate) fn trace(&mut self, from: u16, to: u16) {
        let mut node = from;
        for _ in 0..self.ends.len() {
            let Some(port) = self.routes.next(node, to, None) else { break };
            node = self.ends[port as usize].1;
            if node == to {
                break;
            }
            self.send_message(from, node, TRACE, [to.into(), 0, 0]);
        }
    }

    /// Answers with the queue on the path to a node.
    fn report_queue(&mut self, node: u16, asker: u16, to: u16) {
        let Some(port) = self.routes.next(node, to, None) else { return };
        let (now, port) = (self.now, &mut self.ports[port as usize]);
        port.advance(now);
        let (queue, now) = (port.queue_packets(), now.ps());
        self.send_message(node, asker, TRACED, [queue, (now >> 32) as u32, now as u32]);
    }

    /// A neighbour asks to filter what comes to it from `origin` (lgc, Appendix I, 3).
    fn filter(&mut self, node: u16, asker: u16, origin: u16) {
        // packets of the origin arrive over the link that leads back to it
        let Some(back) = self.routes.next(node, origin, None) else { return };
        let from = Node(self.ends[back as usize].1.into());
        let key = Key { from, origin: Node(origin.into()) };
        for port in 0..self.ports.len() as u32 {
            if self.ends[port as usize] == (node, asker) {
                self.ports[port as usize].ask_to_filter(key, self.now);
                self.take_decisions(port);
            }
        }
    }
}
