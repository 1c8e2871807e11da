//! The one place where a sender asks how its class notices losses ([`LossDetector`]).
//!
//! | detector     | file            | an acknowledgement | the window is filled by | the timer |
//! |--------------|-----------------|--------------------|-------------------------|-----------|
//! | `Duplicates` | `repair.rs`     | the third duplicate, or blocks, begin recovery | new data; in recovery with SACK by holes first | goes back |
//! | `Time`       | `timed.rs`      | what is overdue is lost | losses first, then new data | all is lost |
//! | `GoBack`     | `back.rs`       | duplicates of the present burst go back | the burst | goes back |
//! | `Late`       | `late.rs`       | duplicates mean nothing | new data | every two round trips |

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

use super::super::control::{Control, Payloads};
use super::super::loss::LossDetector;
use super::super::receiver::Address;
use super::super::{ClassParams, Ctx};
use super::Sender;

impl<C: Control + Payloads> Sender<C> {
    /// An acknowledgement that the record of outstanding segments has taken note of; `told`: its
    /// blocks have new segments.
    pub(super) fn on_ack(
        &mut self,
        packet: &Packet,
        told: bool,
        address: &Address,
        ctx: &mut Ctx<'_>,
    ) {
        if ctx.class.detector == LossDetector::Time {
            return self.timed_ack(packet, address, ctx);
        }
        if packet.ack > self.una {
            return self.advanced(packet, address, ctx);
        }
        // a packet with data of its own is no duplicate acknowledgement (RFC 5681, 2)
        if self.una < self.nxt && !packet.flags.has(Flags::DATA) {
            self.hand_back(packet, false, ctx);
            if packet.seq > 0 {
                return self.take_part(packet, address, ctx);
            }
            self.on_duplicate(packet, told, address, ctx);
        }
    }

    /// The record has taken note of what an acknowledgement says; by time losses are looked for
    /// later.
    pub(super) fn on_told(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.class.detector != LossDetector::Time {
            self.tell_losses(ctx);
            if self.recovering {
                self.spread(ctx.class);
            }
        }
    }

    /// One more duplicate acknowledgement.
    fn on_duplicate(&mut self, packet: &Packet, told: bool, address: &Address, ctx: &mut Ctx<'_>) {
        let detector = ctx.class.detector;
        let counts = match detector {
            LossDetector::GoBack { .. } => self.control.tells_of_loss(&packet.ext),
            _ => Self::counts(told, ctx.class),
        };
        self.dup_acks += u32::from(counts);
        self.inflate(ctx.class);
        match detector {
            _ if self.recovering => self.duplicate_in_recovery(packet, address, ctx),
            LossDetector::GoBack { notice } if self.dup_acks >= notice => {
                self.go_back(address, ctx)
            }
            LossDetector::GoBack { .. } | LossDetector::Late => self.send_more(address, ctx),
            LossDetector::Duplicates | LossDetector::Time => {
                self.duplicate(packet, told, address, ctx);
            }
        }
    }

    /// Sends what is lost and what is new, as far as the window allows.
    pub(super) fn send_more(&mut self, address: &Address, ctx: &mut Ctx<'_>) {
        match ctx.class.detector {
            LossDetector::Time => return self.send_timed(address, ctx),
            LossDetector::Duplicates if self.recovering && ctx.class.sack() => {
                return self.send_sack(address, ctx);
            }
            _ => self.send_window(address, ctx),
        }
        if ctx.class.detector == LossDetector::Late {
            self.arm_late_repair(ctx);
        }
    }

    /// Segments thought to be in the network.
    #[inline]
    pub(super) fn pipe(&self, class: &ClassParams) -> u32 {
        let timed = class.detector == LossDetector::Time;
        if timed || (self.recovering && class.sack()) {
            return self.outstanding.pipe(self.una, self.nxt, timed);
        }
        self.flight().saturating_sub(self.dup_acks)
    }

    /// What was in the network when the timer expired, of `flight` segments not acknowledged: not
    /// what has arrived (RFC 5681, eq. 4).
    pub(super) fn flight_at_timeout(&self, flight: u32, class: &ClassParams) -> u32 {
        match class.detector {
            // the pipe of what is outstanding let out no more than the window allows
            LossDetector::Time if self.outstanding.told() => {
                flight.min(self.window().ceil() as u32)
            }
            LossDetector::Time => flight,
            // RFC 6675, 4: the pipe
            _ => flight.min(self.outstanding.pipe(self.una, self.nxt, false)),
        }
    }

    /// When the retransmission timer fires that starts now.
    #[inline]
    pub(super) fn timeout_from_now(&self, ctx: &Ctx<'_>) -> Time {
        if ctx.class.detector == LossDetector::Late {
            return self.late_repair(ctx);
        }
        let wait = self.rto.timeout(ctx.class, self.rto.syn_again > 0);
        ctx.class.fires(ctx.source, ctx.net.now, wait)
    }

    /// The timer has expired: everything outstanding counts as lost.
    pub(super) fn lose_all(&mut self, class: &ClassParams) {
        self.outstanding.lose_all();
        self.after_timeout = class.detector != LossDetector::Late;
        if class.detector != LossDetector::Time {
            self.nxt = self.una;
        }
    }
}
