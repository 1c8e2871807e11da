//! The states, the gains of each, and what is kept of acknowledgements and recoveries.

use tidegate_core::units::Time;

pub(super) const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
const CWND_GAIN: f64 = 2.0;

/// The state of a flow (State Machine).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The rate doubles in each round.
    Startup,
    /// The queue that Startup built is emptied.
    Drain,
    /// ProbeBW_DOWN: slower than the network delivers.
    Down,
    /// ProbeBW_CRUISE: as fast as the network delivers.
    Cruise,
    /// ProbeBW_REFILL: one round at the estimated rate, without the short-term bounds.
    Refill,
    /// ProbeBW_UP: faster than the network delivers.
    Up,
    /// Little is in flight, to measure the least round trip.
    ProbeRtt,
}

impl State {
    /// Pacing gain and window gain (Summary of Control Behavior).
    pub fn gains(self) -> (f64, f64) {
        match self {
            State::Startup => (STARTUP_GAIN, CWND_GAIN),
            State::Drain => (0.5, CWND_GAIN),
            State::Down => (0.9, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (1.25, 2.25),
            State::ProbeRtt => (1.0, 0.5),
        }
    }

    /// Whether it is one of the four states of ProbeBW.
    pub fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Whether the flow looks for more bandwidth.
    pub(super) fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// What acknowledgements tell of probes (`ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The rate sample of an acknowledgement (RS).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rs {
    pub now: Time,
    /// [`Time::ZERO`]: none.
    pub rtt: Time,
    pub newly_acked: f64,
    pub delivered: f64,
    /// Segments per second; zero: none.
    pub delivery_rate: f64,
    pub is_app_limited: bool,
    pub prior_delivered: u64,
    pub tx_in_flight: f64,
    pub lost: f64,
}

/// Whether the sender repairs losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Recovery {
    /// It does not.
    None,
    /// Acknowledgements have shown losses.
    Fast,
    /// The timer has expired; until everything sent before is acknowledged.
    Timeout { until: u64 },
}

/// What is restored if no segment was lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The state that a loss has ended.
    pub state: Option<State>,
    /// Something is saved in this recovery.
    pub saved: bool,
    pub bw_shortterm: f64,
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
}
