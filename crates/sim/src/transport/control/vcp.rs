//! The window of a VCP sender (Xia, Subramanian, Stoica and Kalyanaraman 2005,
//! 3.2 and 4.2).
//!
//! | symbol  | here       | value  | meaning                                     |
//! |---------|------------|--------|---------------------------------------------|
//! | `t_rho` | `interval` | 200 ms | how often the ports compute the load        |
//! | `xi`    | `xi`       | 0.0625 | growth per `t_rho` while the load is low    |
//! | `alpha` | `alpha`    | 1      | segments gained per `t_rho` while it is high |
//! | `beta`  | `beta`     | 0.875  | factor on the window at overload            |
//!
//! Growth is scaled by the round trip, so that flows grow equally in time: with `r = srtt / t_rho`
//! an acknowledgement adds `(1 + xi)^r - 1` at low load, and `alpha r^2 / cwnd` at high load. At
//! overload the window is cut once. Then it stays for `t_rho`, in which the ports notice the cut,
//! and grows additively for a round trip before the code is used again.

use tidegate_core::law::rate::vcp::{HIGH, LOW, OVERLOAD};
use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::control;
use tidegate_model::profile::Tcp;

use super::{CongestionEvent, Control, Feedback, RateSample, Signal};

/// Longest round trip that growth is scaled by, in intervals.
const MOST_SCALE: f64 = 2.5;

/// How the sender uses the code.
#[derive(Clone, Copy, PartialEq, Debug)]
enum CodePhase {
    /// It obeys it.
    Listening,
    /// The window was cut and does not change before this instant.
    Frozen(Time),
    /// The window grows additively until this instant.
    Careful(Time),
}

/// Window of a VCP sender.
#[derive(Clone, Copy, Debug)]
pub struct Vcp {
    cwnd: f64,
    /// Largest useful window.
    cap: f64,
    phase: CodePhase,
    srtt: Time,
    pacing: bool,
    xi: f64,
    alpha: f64,
    beta: f64,
    interval: Time,
}

/// The returned code; zero: none.
fn returned(ext: &Ext) -> u8 {
    match ext {
        Ext::Load { echo, .. } => *echo,
        Ext::SackWith { word, .. } => *word as u8,
        _ => 0,
    }
}

impl Vcp {
    /// A new connection under a class's settings.
    pub fn new(options: &control::Vcp, tcp: &Tcp) -> Vcp {
        Vcp {
            cwnd: f64::from(tcp.initial_window),
            cap: f64::from(tcp.window),
            phase: CodePhase::Listening,
            srtt: Time::ZERO,
            pacing: options.pacing,
            xi: options.xi,
            alpha: options.alpha,
            beta: options.beta,
            interval: options.interval,
        }
    }

    fn scale(&self) -> f64 {
        (self.srtt.secs() / self.interval.secs()).min(MOST_SCALE)
    }

    fn additive(&mut self) {
        let scale = self.scale();
        self.cwnd += self.alpha * scale * scale / self.cwnd;
    }

    fn apply(&mut self, code: u8, now: Time) {
        match code {
            LOW => self.cwnd += libm::pow(1.0 + self.xi, self.scale()) - 1.0,
            HIGH => self.additive(),
            OVERLOAD => {
                self.cwnd *= self.beta;
                self.phase = CodePhase::Frozen(now + self.interval);
            }
            _ => {}
        }
    }
}

impl Control for Vcp {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn gap(&self) -> Option<Time> {
        let spaced = self.pacing && self.srtt > Time::ZERO;
        spaced.then(|| Time::from_secs_f64(self.srtt.secs() / self.cwnd))
    }

    fn header(&mut self, _now: Time) -> Ext {
        Ext::Load { code: LOW, echo: 0 }
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.srtt = feedback.srtt;
        let code = returned(feedback.ext);
        if !feedback.new || code == 0 {
            return;
        }
        let now = feedback.now;
        match self.phase {
            CodePhase::Frozen(until) if now < until => {}
            CodePhase::Frozen(_) => {
                self.phase = CodePhase::Careful(now + self.srtt);
                self.additive();
            }
            CodePhase::Careful(until) if now < until => self.additive(),
            CodePhase::Careful(_) | CodePhase::Listening => {
                self.phase = CodePhase::Listening;
                self.apply(code, now);
            }
        }
        self.cwnd = self.cwnd.clamp(1.0, self.cap);
    }

    fn on_ack(&mut self, _: &RateSample<'_>) {}

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        if signal != Signal::Mark {
            self.cwnd = (f64::from(at.flight) / 2.0).max(2.0);
        }
    }

    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {
        self.cwnd = 1.0;
    }

    fn on_idle(&mut self, window: f64, _: f64) {
        self.cwnd = window;
    }
}
