//! The end of a flow that sends its data.
//!
//! | file       | what is there                                                          |
//! |------------|------------------------------------------------------------------------|
//! | `open`     | the handshake                                                          |
//! | `send`     | what leaves, and when the pace lets it                                 |
//! | `ack`      | the steps at an acknowledgement, in their order                        |
//! | `recovery` | what a loss or a mark does to the window                               |
//! | `loss`     | which segments are lost: what detectors decide                         |
//! | `timer`    | the timers of the retransmission, of a loss by time and of a probe     |
//! | `data`     | what there is to send; `driven`: where an application hands it in      |
//! | `snd`      | the send sequence variables, which detectors share                     |

mod ack;
mod data;
pub(crate) mod driven;
mod loss;
mod open;
mod recovery;
mod send;
mod snd;
mod timer;

use prefetch_index::prefetch_index;
use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use super::control::{Control, Payloads, Reno};
pub(crate) use super::detector::Detector;
use super::laps::LAP;
use super::receiver::{Address, Receiver};
use super::rto::Rto;
use super::{Ctx, FlowFate};
use snd::Snd;

/// Where the sending end stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has arrived yet (download).
    Listen,
    /// Its SYN is out (upload).
    SynSent,
    /// Its SYN+ACK is out (download).
    SynReceived,
    /// Data may be sent.
    Open,
    /// All is acknowledged; the FIN of the other end may still come.
    Closed,
}

/// The sending end: what an acknowledgement of new data touches comes first.
#[repr(C)]
pub(crate) struct Sender<C> {
    /// When the retransmission timer (or that of the SYN) expires.
    deadline: Time,
    snd: Snd,
    /// Behind the highest segment sent when a mark last cut the window.
    mark_cut: u32,
    state: State,
    /// The next new data packet carries CWR (RFC 3168).
    tell_mark: bool,
    /// Payload of the last data segment.
    last_payload: u16,
    control: C,
    rto: Rto,
    /// The oldest segment at the last timeout.
    timed_out: u32,
    pub(super) retransmitted: u32,
    /// Behind the last segment that the receiver offers; `u32::MAX`: it offers all.
    edge: u32,
    /// How often the numbers have begun anew.
    laps: u32,
    /// When the user loses patience.
    pub(super) give_up: Time,
    /// What the gap to the next data packet counts from (paced controls); as Linux paces, its end.
    pace_from: Time,
    /// When a packet that the pace held back may go.
    pub(super) wake: Time,
}

/// `prefetch` fetches the line of each of these.
const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(Sender<Reno>, deadline) / 64 == 0);
    assert!(offset_of!(Sender<Reno>, rto) / 64 == 1);
    assert!(offset_of!(Sender<Reno>, give_up) / 64 == 2);
};

impl<C: Control + Payloads> Sender<C> {
    pub(crate) fn new(control: C) -> Sender<C> {
        Sender {
            deadline: Time::NEVER,
            snd: Snd::new(),
            mark_cut: 0,
            state: State::Listen,
            tell_mark: false,
            last_payload: 0,
            control,
            rto: Rto::NEW,
            timed_out: 0,
            retransmitted: 0,
            edge: u32::MAX,
            laps: 0,
            give_up: Time::NEVER,
            pace_from: Time::ZERO,
            wake: Time::NEVER,
        }
    }

    /// Data transmissions, first ones and repeated ones.
    pub(super) fn sent(&self) -> u64 {
        self.whole(self.snd.max.min(self.snd.total)) + u64::from(self.retransmitted)
    }

    /// A number as it would be if the numbers never began anew.
    #[inline]
    fn whole(&self, number: u32) -> u64 {
        u64::from(number) + u64::from(self.laps) * u64::from(LAP)
    }

    /// Whether the numbers of this flow have to begin anew.
    #[inline]
    pub(super) fn is_far(&self) -> bool {
        self.snd.is_far()
    }

    /// The numbers begin anew, at both ends at once.
    #[cold]
    pub(super) fn renumber(&mut self, receiver: &mut Receiver) {
        self.snd.renumber();
        receiver.renumber(LAP);
        if self.edge != u32::MAX {
            self.edge -= LAP;
        }
        let Sender { mark_cut, timed_out, rto, .. } = self;
        for number in [mark_cut, timed_out, &mut rto.timed] {
            *number = number.saturating_sub(LAP);
        }
        self.laps += 1;
    }

    /// Prefetches what the next acknowledgement will touch: three cache lines.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_index(std::slice::from_ref(&self.deadline), 0);
        prefetch_index(std::slice::from_ref(&self.rto), 0);
        prefetch_index(std::slice::from_ref(&self.give_up), 0);
    }

    /// A packet has arrived at this end.
    pub(crate) fn receive(
        &mut self,
        packet: &Packet,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) -> FlowFate {
        if packet.flags.has(Flags::RST) {
            return self.refused(ctx);
        }
        if packet.flags.has(Flags::SYN) {
            self.handshake(packet, address, ctx);
            return FlowFate::Lives;
        }
        match self.state {
            State::Open | State::Closed => {
                self.acknowledged(packet, address, ctx);
                if packet.flags.has(Flags::FIN) {
                    // the sequence number of the other end is one more
                    Self::acknowledge(address, 1, ctx);
                }
            }
            State::SynReceived => self.open(packet, address, ctx),
            State::Listen | State::SynSent => {}
        }
        FlowFate::Lives
    }
}
