//! How a sender notices that segments are lost. A loss detector reads and writes the send sequence
//! variables alone and returns what it has found; what follows from it is in `ack.rs`, `send.rs`
//! and `timer.rs`, once for all of them.
//!
//! | detector     | an acknowledgement | the window is filled by | the timer |
//! |--------------|--------------------|-------------------------|-----------|
//! | `Duplicates` | the third duplicate, or blocks, begin recovery | new data; in recovery with SACK by holes first | goes back |
//! | `Timed`      | what is overdue is lost | losses first, then new data | all is lost |
//! | `GoBack`     | duplicates of the present burst go back | the burst | goes back |
//! | `Late`       | duplicates mean nothing | new data | every two round trips |

mod back;
mod duplicates;
mod timed;
mod verdict;

use tidegate_core::units::Time;
use tidegate_model::profile::LossRule;

use super::super::control::{Control, Payloads};
use super::super::{ClassParams, Ctx};
use super::{Detector, Sender};
pub(super) use verdict::{Ack, Event, LossVerdict, Sends};

impl<C: Control + Payloads> Sender<C> {
    /// Asks the detector of the class what an acknowledgement says of losses.
    #[inline(always)]
    pub(super) fn judge(&mut self, ack: &Ack<'_>, ctx: &Ctx<'_>) -> LossVerdict {
        let class = &*ctx.class;
        if class.detector == Detector::Timed {
            let event = self.find_by_time(false, ctx);
            return LossVerdict { event, ..LossVerdict::WINDOW };
        }
        if ack.segments > 0 {
            let partial = self.snd.recovering && class.detector == Detector::Duplicates;
            return if partial {
                duplicates::on_partial(&mut self.snd, ack.segments, self.control.cwnd(), class)
            } else {
                LossVerdict::WINDOW
            };
        }
        let eager = self.control.limited_transmit();
        match class.detector {
            Detector::GoBack { notice } => {
                let tells = self.control.tells_of_loss(&ack.packet.ext);
                self.snd.inflate(eager, class);
                back::on_duplicate(&mut self.snd, tells, notice)
            }
            Detector::Duplicates => {
                let verdict = duplicates::on_duplicate(&mut self.snd, ack, eager, class);
                if verdict.event == Event::Loss {
                    // an acknowledgement that a repair has delayed is no sample of the round trip
                    self.rto.timing &= class.tcp.loss_rule != LossRule::OneWay;
                }
                verdict
            }
            Detector::Timed | Detector::Late => {
                self.snd.inflate(eager, class);
                LossVerdict::WINDOW
            }
        }
    }

    /// Looks for losses by time, and sets when the next is looked for: by Linux's timers two
    /// milliseconds later at least (`TCP_TIMEOUT_MIN_US`).
    pub(super) fn find_by_time(&mut self, by_timer: bool, ctx: &Ctx<'_>) -> Event {
        let now = ctx.net.now;
        let event = timed::find_losses(&mut self.snd, self.rto.srtt(), now, by_timer);
        self.tell_losses(ctx);
        if let Some(log) = self.snd.outstanding.log_mut()
            && log.lost_at < Time::NEVER
        {
            let wait = log.lost_at.saturating_sub(now);
            log.lost_at = ctx.class.fires_early(ctx.source, now, wait);
        }
        event
    }

    /// Segments thought to be in the network.
    #[inline]
    pub(super) fn pipe(&self, class: &ClassParams) -> u32 {
        match class.detector {
            Detector::Timed => self.snd.outstanding.marked_pipe(),
            Detector::Duplicates if self.snd.recovering && class.sack() => {
                self.snd.outstanding.pipe(self.snd.una, self.snd.nxt)
            }
            _ => self.snd.flight().saturating_sub(self.snd.dup_acks),
        }
    }

    /// The retransmission timer has expired: everything outstanding counts as lost. Returns what of
    /// the `flight` segments not acknowledged was in the network, not what has arrived (RFC 5681,
    /// eq. 4): the pipe of RFC 6675, 4, and where losses are found by time no more than the window.
    pub(super) fn lose_all(&mut self, now: Time, flight: u32, class: &ClassParams) -> u32 {
        let (una, nxt) = (self.snd.una, self.snd.nxt);
        let pipe = match class.detector {
            Detector::Timed if self.snd.outstanding.has_block() => self.window().ceil() as u32,
            Detector::Timed => flight,
            _ => self.snd.outstanding.pipe(una, nxt),
        };
        self.snd.outstanding.lose_all(now);
        if class.detector != Detector::Timed {
            self.snd.after_timeout = true;
            self.snd.nxt = una;
        }
        flight.min(pipe)
    }
}
