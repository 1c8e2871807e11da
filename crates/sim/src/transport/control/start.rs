//! Starts other than the control's own: each stands before reno or cubic until slow start is over.
//!
//! A start decides how much an acknowledgement adds in the first slow start and when that ends
//! ([`plus_plus`], [`search`]), or jumps to a saved window ([`resume`]). A paced start sends twice the
//! window in a round trip, as slow start doubles it (Linux: `sk_pacing_rate`, 200 %).

mod plus_plus;
mod resume;
mod search;
mod verdict;

use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::profile::{HyStart, LostSyn, Start, Tcp};

use super::{
    Any, CongestionEvent, Control, Feedback, Leaving, Lost, RateSample, SentOutcome, Signal,
};
use plus_plus::PlusPlus;
use resume::{Effect, Resume};
use search::Search;
use verdict::StartVerdict;

/// How the first slow start ends before a loss.
enum Exit {
    Loss,
    PlusPlus(PlusPlus),
    Search(Search),
}

/// A control with a start before it.
pub(super) struct Started {
    inner: Any,
    exit: Exit,
    resume: Option<Resume>,
    paced: bool,
    srtt: Time,
    una: u64,
    /// Whether the first slow start is over.
    over: bool,
    /// Whether the recovery under way began with a safe retreat.
    retreats: bool,
}

impl Started {
    /// A new connection, if its class has another start than slow start as the control has it.
    pub(super) fn new(inner: Any, tcp: &Tcp) -> Started {
        let exit = match tcp.start {
            Start::PlusPlus => Exit::PlusPlus(PlusPlus::new(tcp.paced_start)),
            Start::Search => Exit::Search(Search::new(tcp.initial_window)),
            Start::SlowStart if tcp.hystart == HyStart::PlusPlus => {
                Exit::PlusPlus(PlusPlus::new(tcp.paced_start))
            }
            Start::SlowStart => Exit::Loss,
        };
        let resume = Resume::new(tcp);
        Started {
            inner,
            exit,
            resume,
            paced: tcp.paced_start,
            srtt: Time::ZERO,
            una: 0,
            over: false,
            retreats: false,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.inner.ssthresh().is_none_or(|threshold| self.inner.cwnd() < threshold)
    }

    fn set(&mut self, window: f64) {
        if let Some([cwnd, _]) = self.inner.window_and_threshold() {
            *cwnd = window;
        }
    }

    fn set_threshold(&mut self, threshold: f64) {
        if let Some([_, ssthresh]) = self.inner.window_and_threshold() {
            *ssthresh = threshold;
        }
    }

    /// The start judges what the control has made of an acknowledgement.
    fn judge(&mut self, sample: &RateSample<'_>, before: f64) {
        let grown = (self.inner.cwnd() - before).max(0.0);
        let verdict = match &mut self.exit {
            Exit::Loss => return,
            Exit::PlusPlus(start) => start.on_ack(sample, grown),
            Exit::Search(start) => start.on_ack(sample, grown),
        };
        match verdict {
            StartVerdict::Grow(by) => self.set(before + by),
            StartVerdict::Window(window) => self.set(window),
            StartVerdict::Leave => self.leave(before),
            StartVerdict::LeaveAt(window) => self.leave(window),
        }
    }

    /// Slow start ends with this window.
    fn leave(&mut self, window: f64) {
        self.set(window);
        self.set_threshold(window);
        self.over = true;
    }

    /// What Careful Resume makes of the window, which was `before`.
    fn follow(&mut self, effect: Effect, before: f64) {
        match effect {
            Effect::Control => {}
            Effect::Hold => self.set(before.min(self.inner.cwnd())),
            Effect::Window(window) => self.set(window),
            Effect::Threshold(threshold) => {
                self.set(before);
                self.set_threshold(threshold);
            }
        }
    }
}

impl Control for Started {
    passed_on! { to_inner }
    to_inner! {
        mut on_part(sample: &RateSample<'_>);
        mut on_idle(window: f64, ssthresh: f64);
        mut on_fresh_data();
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        (self.srtt, self.una) = (sample.srtt, sample.una);
        let before = self.inner.cwnd();
        let searches = !self.over && self.in_slow_start();
        self.inner.on_ack(sample);
        if searches {
            self.judge(sample, before);
        }
        if let Some(resume) = &mut self.resume {
            let effect = resume.on_ack(sample, self.inner.cwnd());
            self.follow(effect, before);
        }
    }

    fn on_sent(&mut self, now: Time, flight: u32) {
        self.inner.on_sent(now, flight);
        let before = self.inner.cwnd();
        let sent = self.una + u64::from(flight);
        if let Some(resume) = &mut self.resume {
            let effect = resume.on_sent(flight, sent);
            self.follow(effect, before);
        }
    }

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        self.over = true;
        let before = self.inner.cwnd();
        self.inner.on_congestion(signal, at);
        let Some(resume) = &mut self.resume else { return };
        let effect = resume.on_congestion(at.sent);
        self.follow(effect, before);
        if let Effect::Window(window) = effect {
            self.retreats = true;
            self.set_threshold(window);
        }
    }

    fn on_recovered(&mut self, window: f64) {
        let before = self.inner.cwnd();
        self.inner.on_recovered(window);
        // the threshold may be that after the retreat already
        if std::mem::take(&mut self.retreats) {
            self.set(before.min(self.inner.cwnd()));
        }
    }

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        (self.over, self.retreats) = (true, false);
        if let Some(resume) = &mut self.resume {
            resume.stop();
        }
        self.inner.on_timeout(at, again);
    }

    fn gap(&self) -> Option<Time> {
        let jumps = self.resume.as_ref().and_then(Resume::gap);
        let paces = self.paced && self.srtt > Time::ZERO && self.in_slow_start();
        jumps
            .or_else(|| {
                paces.then(|| Time::from_secs_f64(self.srtt.secs() / (2.0 * self.inner.cwnd())))
            })
            .or_else(|| self.inner.gap())
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::{Profile, TcpControl};

    use super::verdict::ack;
    use super::*;

    fn started(control: TcpControl, start: Start, paced: bool) -> Any {
        let tcp = Tcp { control, start, paced_start: paced, ..Profile::Linux.tcp() };
        Any::inside(&Tcp { hystart: HyStart::None, ..tcp })
    }

    /// RFC 9406, 4.2, by hand, for both controls: after rounds of ten ACKs at 40, 40 and 48 ms a
    /// window of 10 is 39.5, as the first 20 and seven of the last ten ACKs count in full, the eighth
    /// too since it only begins the slower phase, and the last two a quarter each.
    #[test]
    fn both_controls_slow_down() {
        for control in [TcpControl::Reno, TcpControl::Cubic] {
            let mut any = started(control, Start::PlusPlus, false);
            let mut una = 1;
            for rtt in [40, 40, 48] {
                for _ in 0..10 {
                    any.on_ack(&ack(una, rtt, una, una + 9));
                    una += 1;
                }
            }
            assert_eq!(any.cwnd(), 10.0 + 28.0 + 2.0 * 0.25, "{control:?}");
        }
    }

    /// Linux's 200 %, by hand: a window of 10 over 100 ms, and then 11, leaves every 100 / (2 * 11)
    /// ms; after a loss there is no pace.
    #[test]
    fn a_paced_start_sends_twice_the_window_in_a_round_trip() {
        let mut any = started(TcpControl::Reno, Start::SlowStart, true);
        assert_eq!(any.gap(), None);
        any.on_ack(&ack(100, 100, 1, 10));
        assert_eq!(any.gap(), Some(Time::from_secs_f64(0.1 / 22.0)));
        let at =
            CongestionEvent { flight: 10, window: 11.0, sent: 20, ..CongestionEvent::default() };
        any.on_congestion(Signal::Loss, &at);
        assert_eq!(any.gap(), None);
    }
}
