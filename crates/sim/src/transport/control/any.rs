//! The controls beside TCP's own in one type: built-in ones inline, and the user's.

use tidegate_core::packet::Ext;
use tidegate_core::units::{Pace, Time};
use tidegate_model::control;
use tidegate_model::profile::{LostSyn, Tcp};

use super::{Acked, Blitz, Control, Feedback, Granted, QuickStart, Vcp, Xcp};

/// Any control beside TCP's own.
pub(crate) enum Any {
    Granted(Granted),
    Xcp(Xcp),
    Vcp(Vcp),
    QuickStart(QuickStart),
    Blitz(Blitz),
    Custom(Box<dyn Control>),
}

impl Any {
    /// The control that a scenario asks for, for a new connection of a host
    /// with this link, if it has one of its own.
    pub(crate) fn of(control: &control::Control, tcp: &Tcp, access: Option<Pace>) -> Any {
        match control {
            control::Control::Qfcp(options) => Any::Granted(Granted::qfcp(options, tcp)),
            control::Control::Rcp(options) => Any::Granted(Granted::rcp(options, tcp)),
            control::Control::Xcp(options) => Any::Xcp(Xcp::new(options, tcp)),
            control::Control::Vcp(options) => Any::Vcp(Vcp::new(options, tcp)),
            control::Control::QuickStart(options) => Any::QuickStart(QuickStart::new(options, tcp)),
            control::Control::Blitz(options) => Any::Blitz(Blitz::new(options, tcp, access)),
        }
    }
}

/// The same call for whichever control it is.
macro_rules! each {
    ($any:expr, $control:ident => $call:expr) => {
        match $any {
            Any::Granted($control) => $call,
            Any::Xcp($control) => $call,
            Any::Vcp($control) => $call,
            Any::QuickStart($control) => $call,
            Any::Blitz($control) => $call,
            Any::Custom($control) => $call,
        }
    };
}

impl Control for Any {
    fn cwnd(&self) -> f64 {
        each!(self, control => control.cwnd())
    }
    fn gap(&self) -> Option<Time> {
        each!(self, control => control.gap())
    }
    fn header(&mut self, now: Time) -> Ext {
        each!(self, control => control.header(now))
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        each!(self, control => control.on_feedback(feedback));
    }
    fn limited_transmit(&self) -> bool {
        each!(self, control => control.limited_transmit())
    }
    fn repairs_late(&self) -> bool {
        each!(self, control => control.repairs_late())
    }
    fn goes_back(&mut self) -> Option<bool> {
        each!(self, control => control.goes_back())
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        each!(self, control => control.on_ack(ack));
    }
    fn on_loss(&mut self, flight: u32) {
        each!(self, control => control.on_loss(flight));
    }
    fn on_loss_after_mark(&mut self, flight: u32) {
        each!(self, control => control.on_loss_after_mark(flight));
    }
    fn on_mark(&mut self, flight: u32) {
        each!(self, control => control.on_mark(flight));
    }
    fn on_duplicate(&mut self) {
        each!(self, control => control.on_duplicate());
    }
    fn on_partial(&mut self, segments: u32) {
        each!(self, control => control.on_partial(segments));
    }
    fn on_recovered(&mut self, flight: u32) {
        each!(self, control => control.on_recovered(flight));
    }
    fn on_timeout(&mut self, flight: u32, again: bool) {
        each!(self, control => control.on_timeout(flight, again));
    }
    fn on_lost_syn(&mut self, rule: LostSyn) {
        each!(self, control => control.on_lost_syn(rule));
    }
}
