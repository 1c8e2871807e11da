//! The controls of a flow table: built-in ones inline, and a user's own.

use tidegate_core::packet::Ext;
use tidegate_core::units::{Pace, Time};
use tidegate_model::control::{TcpControl, TransportControl};
use tidegate_model::profile::{LostSyn, Tcp};

use super::start::Started;
use super::{
    Blitz, CongestionEvent, Control, Feedback, Granted, Leaving, Lost, Payloads, QuickStart,
    RateSample, SentOutcome, Signal, Vcp, Xcp,
};

/// The type of a control inside TCP in [`Any`]: one with much state is boxed.
macro_rules! held {
    (Bbr $module:ident) => { Box<super::Bbr> };
    (Bbr3 $module:ident) => { Box<super::Bbr3> };
    (Ledbat $module:ident) => { Box<super::Ledbat> };
    ($arm:ident $module:ident) => { super::$module::$arm };
}

/// Defines [`Any`]: of controls inside TCP from their registry in the model, of the others from one
/// line each with its arm in theirs, its type, and how it is created for a new connection of a host
/// with this link.
macro_rules! any {
    (
        inside { $($(#[$doc:meta])* $inside:ident($module:ident) = $name:literal,)+ }
        beside { $($arm:ident($type:ty) = $make:expr;)+ }
    ) => {
        /// A built-in control, stored inline, or a user's own.
        pub(crate) enum Any {
            $($inside(held!($inside $module)),)+
            $($arm($type),)+
            Custom(Box<dyn Control>),
        }

        impl Any {
            /// The control of a TCP profile, for a new connection.
            pub(crate) fn inside(tcp: &Tcp) -> Any {
                let control = Any::alone(tcp);
                if tcp.starts_otherwise() {
                    return Any::Custom(Box::new(Started::new(control, tcp)));
                }
                control
            }

            /// The same, with its own start.
            fn alone(tcp: &Tcp) -> Any {
                match tcp.control {
                    $(TcpControl::$inside => Any::$inside(super::$module::$inside::new(tcp).into()),)+
                }
            }

            /// The control of a transport other than TCP, for a new connection of a host with this
            /// link.
            pub(crate) fn of(chosen: &TransportControl, tcp: &Tcp, access: Option<Pace>) -> Any {
                match chosen {
                    $(TransportControl::$arm(options) => {
                        let make: fn(_, &Tcp, Option<Pace>) -> $type = $make;
                        Any::$arm(make(options, tcp, access))
                    })+
                    // the caller supplies it, and asks for none here
                    TransportControl::Python(_) | TransportControl::Crate(_) => Any::inside(tcp),
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

/// Adds to the controls inside TCP those with a transport of their own.
macro_rules! with_those_beside {
    ($($inside:tt)+) => {
        any! {
            inside { $($inside)+ }
            beside {
                Qfcp(Granted) = |options, tcp, _| Granted::qfcp(options, tcp);
                Rcp(Granted) = |options, tcp, _| Granted::rcp(options, tcp);
                Xcp(Xcp) = |options, tcp, _| Xcp::new(options, tcp);
                Vcp(Vcp) = |options, tcp, _| Vcp::new(options, tcp);
                QuickStart(QuickStart) = |options, tcp, _| QuickStart::new(options, tcp);
                Blitz(Blitz) = |_, tcp, access| Blitz::new(tcp, access);
            }
        }
    };
}

tidegate_model::tcp_controls! { with_those_beside }

/// Calls the same methods of the control, whichever it is.
macro_rules! to_each {
    ($($methods:tt)+) => {
        forward! { each: $($methods)+ }
    };
}

impl Control for Any {
    passed_on! { to_each }
    passed_on_but_by_a_start! { to_each }
    to_each! {
        mut on_ack(sample: &RateSample<'_>);
        mut on_part(sample: &RateSample<'_>);
        mut on_sent(now: Time, flight: u32);
        mut on_idle(window: f64, ssthresh: f64);
        mut on_fresh_data();
    }
}

impl Payloads for Any {}
