//! The controls of a flow table: built-in ones inline, and a user's own.

use tidegate_core::packet::Ext;
use tidegate_core::units::{Pace, Time};
use tidegate_model::control::{Control as Chosen, TcpControl};
use tidegate_model::profile::{LostSyn, Tcp};

use super::{
    Bbr, Bbr3, Blitz, CongestionEvent, Control, Cubic, Dctcp, Feedback, Granted, Ledbat, Lost,
    Prague, QuickStart, RateSample, Reno, Signal, Vcp, Xcp,
};

/// Defines [`Any`] from one line per control: its arm in a registry of the model, its type, and how
/// it is created for a new connection of a host with this link.
macro_rules! any {
    (
        inside { $($inside:ident($within:ty) = $new:expr;)+ }
        beside { $($arm:ident($type:ty) = $make:expr;)+ }
    ) => {
        /// A built-in control, stored inline, or a user's own.
        pub(crate) enum Any {
            $($inside($within),)+
            $($arm($type),)+
            Custom(Box<dyn Control>),
        }

        impl Any {
            /// The control of a TCP profile, for a new connection.
            pub(crate) fn inside(tcp: &Tcp) -> Any {
                match tcp.control {
                    $(TcpControl::$inside => {
                        let new: fn(&Tcp) -> $within = $new;
                        Any::$inside(new(tcp))
                    })+
                }
            }

            /// The control of a transport other than TCP, for a new connection of a host with this
            /// link.
            pub(crate) fn of(chosen: &Chosen, tcp: &Tcp, access: Option<Pace>) -> Any {
                match chosen {
                    $(Chosen::$arm(options) => {
                        let make: fn(_, &Tcp, Option<Pace>) -> $type = $make;
                        Any::$arm(make(options, tcp, access))
                    })+
                    // the caller supplies it, and asks for none here
                    Chosen::Python(_) => Any::inside(tcp),
                }
            }
        }

        /// Calls a method of the control, whichever it is.
        macro_rules! each {
            ($any:expr, $control:ident => $call:expr) => {
                match $any {
                    $(Any::$inside($control) => $call,)+
                    $(Any::$arm($control) => $call,)+
                    Any::Custom($control) => $call,
                }
            };
        }
    };
}

any! {
    inside {
        Reno(Reno) = Reno::new;
        Cubic(Cubic) = Cubic::new;
        Bbr(Box<Bbr>) = |tcp| Box::new(Bbr::new(tcp));
        Dctcp(Dctcp) = Dctcp::new;
        Prague(Prague) = Prague::new;
        Bbr3(Box<Bbr3>) = |tcp| Box::new(Bbr3::new(tcp));
        Ledbat(Box<Ledbat>) = |tcp| Box::new(Ledbat::new(tcp));
    }
    beside {
        Qfcp(Granted) = |options, tcp, _| Granted::qfcp(options, tcp);
        Rcp(Granted) = |options, tcp, _| Granted::rcp(options, tcp);
        Xcp(Xcp) = |options, tcp, _| Xcp::new(options, tcp);
        Vcp(Vcp) = |options, tcp, _| Vcp::new(options, tcp);
        QuickStart(QuickStart) = |options, tcp, _| QuickStart::new(options, tcp);
        Blitz(Blitz) = |_, tcp, access| Blitz::new(tcp, access);
    }
}

impl Control for Any {
    fn cwnd(&self) -> f64 {
        each!(self, control => control.cwnd())
    }
    fn ssthresh(&self) -> Option<f64> {
        each!(self, control => control.ssthresh())
    }
    fn on_ack(&mut self, sample: &RateSample<'_>) {
        each!(self, control => control.on_ack(sample));
    }
    fn on_part(&mut self, sample: &RateSample<'_>) {
        each!(self, control => control.on_part(sample));
    }
    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        each!(self, control => control.on_congestion(signal, at));
    }
    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        each!(self, control => control.on_timeout(at, again));
    }
    fn gap(&self) -> Option<Time> {
        each!(self, control => control.gap())
    }
    fn header(&mut self, now: Time) -> Ext {
        each!(self, control => control.header(now))
    }
    fn on_sent(&mut self, now: Time, flight: u32) {
        each!(self, control => control.on_sent(now, flight));
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        each!(self, control => control.on_feedback(feedback));
    }
    fn on_recovered(&mut self, window: f64) {
        each!(self, control => control.on_recovered(window));
    }
    fn on_lost_syn(&mut self, rule: LostSyn) {
        each!(self, control => control.on_lost_syn(rule));
    }
    fn on_idle(&mut self, window: f64, ssthresh: f64) {
        each!(self, control => control.on_idle(window, ssthresh));
    }
    fn on_fresh_data(&mut self) {
        each!(self, control => control.on_fresh_data());
    }
    fn samples_rate(&self) -> bool {
        each!(self, control => control.samples_rate())
    }
    fn hears_losses(&self) -> bool {
        each!(self, control => control.hears_losses())
    }
    fn on_lost(&mut self, lost: &Lost, now: Time) {
        each!(self, control => control.on_lost(lost, now));
    }
    fn on_spurious(&mut self) {
        each!(self, control => control.on_spurious());
    }
    fn holds_back(&self) -> bool {
        each!(self, control => control.holds_back())
    }
    fn keeps_window(&self) -> bool {
        each!(self, control => control.keeps_window())
    }
    fn limited_transmit(&self) -> bool {
        each!(self, control => control.limited_transmit())
    }
    fn tells_of_loss(&self, ext: &Ext) -> bool {
        each!(self, control => control.tells_of_loss(ext))
    }
}
