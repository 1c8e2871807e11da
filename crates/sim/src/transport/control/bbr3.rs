//! BBR, version 3 (draft-ietf-ccwg-bbr of August 2026; the section names below are its own).
//!
//! BBR keeps a model of the path: the highest delivery rate of two cycles of probing, the least
//! round trip of ten seconds, and how much may be in flight before losses exceed 2 %. It paces by
//! the one and bounds its window by the others.
//!
//! | symbol (draft)      | here                   | value        | meaning                           |
//! |---------------------|------------------------|--------------|-----------------------------------|
//! | StartupPacingGain   | `state::STARTUP_GAIN`  | 4 ln 2       | doubles the rate in a round       |
//! | DefaultCwndGain     | `state::CWND_GAIN`     | 2            | window, in products of rate and round trip |
//! | DrainPacingGain     | [`State::gains`]       | 0.5          | empties the queue of Startup      |
//! | pacing_gain, cwnd_gain | [`State::gains`]    |              | of each state                     |
//! | PacingMarginPercent | `MARGIN`               | 1 %          | pacing below the estimated rate   |
//! | LossThresh          | `LOSS_THRESH`          | 2 %          | losses of a round that are tolerated |
//! | Beta                | `BETA`                 | 0.7          | least factor of a decrease        |
//! | Headroom            | `HEADROOM`             | 0.15         | share left to others              |
//! | MinPipeCwnd         | `MIN_PIPE`             | 4 segments   | least window                      |
//! | MaxBwFilterLen      | `filter::MaxBw`        | 2 cycles     | window of max_bw                  |
//! | ExtraAckedFilterLen | `filter::ROUNDS`       | 10 rounds    | window of extra_acked             |
//! | MinRTTFilterLen     | `probe_rtt::FILTER`    | 10 s         | window of min_rtt                 |
//! | ProbeRTTInterval    | `probe_rtt::INTERVAL`  | 5 s          | from one ProbeRTT to the next     |
//! | ProbeRTTDuration    | `probe_rtt::DURATION`  | 200 ms       | how long one lasts                |
//! | other names         | fields of [`Bbr3`]     |              | segments, segments/s              |
//!
//! One file for each idea: `startup` (with Drain), `full` (is the pipe full?), `probe_bw`,
//! `probe_rtt`, `congestion` (what losses do to the model, and their undoing), `filter`, `output`
//! (pacing rate and window).
//!
//! Where the draft leaves it open:
//! - Marks of classic ECN are congestion as losses above LossThresh are: once in a round trip.
//! - Segments are paced one by one, so the send quantum is one segment, and the budget for offload
//!   is below MinPipeCwnd.
//! - The random wait between probes comes from the simulated time.
//! - In the profile `linux` a sender counts as application-limited by Linux's rule, when its
//!   application writes; by the draft also at acknowledgements and timers.
//! - What a spurious recovery restores is saved once in a recovery. By the pseudo-code the second
//!   loss of a probe would save again what the first has changed, as entering ProbeBW_DOWN forgets
//!   that the round has had one.

mod congestion;
mod filter;
mod full;
mod output;
mod probe_bw;
mod probe_rtt;
mod sample;
mod startup;
mod state;

use tidegate_core::units::Time;
use tidegate_model::profile::{LostSyn, Tcp};

use super::{CongestionEvent, Control, Feedback, Lost, RateSample, Signal};
use filter::{Aggregation, MaxBw};
pub use state::State;
use state::{AckPhase, Recovery, Rs, Undo};

const MARGIN: f64 = 0.01;
const LOSS_THRESH: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
const MIN_PIPE: f64 = 4.0;

/// A BBRv3 sender. Its fields have the draft's names; volumes are in segments, rates in segments
/// per second.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // as in the draft
pub struct Bbr3 {
    pub state: State,
    pub round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    rs: Rs,
    /// C.delivered, C.inflight.
    delivered: u64,
    pub inflight: f64,
    /// Whether the window was fully used in this round and in the one before.
    cwnd_used: [bool; 2],
    initial_cwnd: f64,
    /// Largest useful window.
    cap: f64,
    /// Data segments sent at once, before pacing starts.
    unpaced: u8,

    pub cwnd: f64,
    prior_cwnd: f64,
    pub pacing_rate: f64,
    gap: Option<Time>,
    has_srtt: bool,

    max_bw_filter: MaxBw,
    pub max_bw: f64,
    pub bw: f64,
    pub bw_shortterm: f64,
    pub inflight_longterm: f64,
    pub inflight_shortterm: f64,
    aggregation: Aggregation,
    pub extra_acked: f64,

    full_bw: f64,
    pub full_bw_count: u32,
    pub full_bw_now: bool,
    pub full_bw_reached: bool,
    pub drain_start_round: u64,

    bw_latest: f64,
    inflight_latest: f64,
    is_loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    /// Ranges of segments lost in this round, and the segment after the last of them.
    lost_ranges: (u32, u32),
    recovery: Recovery,
    undo: Undo,

    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    pub bw_probe_wait: Time,
    pub cycle_stamp: Time,
    pub prev_probe_too_high: bool,
    prev_probe_precautionary: bool,

    pub min_rtt: Time,
    min_rtt_stamp: Time,
    pub probe_rtt_min_delay: Time,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    pub idle_restart: bool,
}

impl Bbr3 {
    /// A new connection under a class's settings (Initialization).
    pub fn new(tcp: &Tcp) -> Bbr3 {
        let initial_cwnd = f64::from(tcp.initial_window);
        Bbr3 {
            state: State::Startup,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            rs: Rs::default(),
            delivered: 0,
            inflight: 0.0,
            cwnd_used: [false; 2],
            initial_cwnd,
            cap: f64::from(tcp.window),
            unpaced: tcp.unpaced,
            cwnd: initial_cwnd,
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            gap: None,
            has_srtt: false,
            max_bw_filter: MaxBw::default(),
            max_bw: 0.0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            aggregation: Aggregation::default(),
            extra_acked: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            lost_ranges: (0, 0),
            recovery: Recovery::None,
            undo: Undo::default(),
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Time::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            min_rtt: Time::NEVER,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: Time::NEVER,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
        }
    }

    /// UpdateModelAndState (Per-ACK Steps).
    fn update_model_and_state(&mut self) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt();
        self.check_probe_rtt();
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
    }
}

impl Control for Bbr3 {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn gap(&self) -> Option<Time> {
        self.gap.filter(|_| self.unpaced == 0)
    }

    fn on_sent(&mut self, _: Time, _: u32) {
        self.unpaced = self.unpaced.saturating_sub(1);
    }

    fn on_restart(&mut self, now: Time) {
        self.restart_from_idle(now);
    }

    fn samples_rate(&self) -> bool {
        true
    }

    fn hears_losses(&self) -> bool {
        true
    }

    fn keeps_window(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if !self.has_srtt {
            self.init_pacing_rate(feedback.srtt);
            if self.has_srtt {
                self.min_rtt = feedback.srtt;
            }
            // the first interval of ProbeRTT begins with the connection
            (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (feedback.now, feedback.now);
        }
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        if !self.take_note(sample) {
            return;
        }
        self.end_timeout(sample.una);
        self.update_model_and_state();
        self.set_pacing_rate(self.state.gains().0);
        self.set_cwnd();
    }

    fn on_lost(&mut self, lost: &Lost, now: Time) {
        self.handle_lost_packet(lost, now);
    }

    fn on_spurious(&mut self) {
        self.handle_spurious_loss();
    }

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        match signal {
            Signal::Mark => self.handle_mark(at),
            Signal::Loss | Signal::LossAfterMark => self.enter_fast_recovery(),
        }
    }

    fn on_recovered(&mut self, _: f64) {
        self.exit_recovery();
    }

    fn on_timeout(&mut self, at: &CongestionEvent, _: bool) {
        self.enter_timeout(at.sent);
    }

    fn on_spared(&mut self, segments: u32) {
        self.cwnd += f64::from(segments);
    }

    fn on_lost_syn(&mut self, rule: LostSyn) {
        if matches!(rule, LostSyn::Rfc | LostSyn::Linux) {
            self.cwnd = 1.0;
        }
    }
}
