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

/// Calls the same methods of the control, whichever it is.
macro_rules! to_each {
    ($($methods:tt)+) => {
        forward! { each: $($methods)+ }
    };
}

impl Control for Any {
    passed_on! { to_each }
    to_each! {
        mut on_ack(sample: &RateSample<'_>);
        mut on_part(sample: &RateSample<'_>);
        mut on_sent(now: Time, flight: u32);
        mut on_idle(window: f64, ssthresh: f64);
        mut on_fresh_data();
    }
}
