//! The registry of controls: TCP's own, and transports with another control.
//!
//! All of them control the same reliable transport, so with each of them a class can set what it
//! can set with TCP: `{ qfcp = { pacing = false, mss = "960B" } }`. A control of TCP is an arm of
//! [`TcpControl`]; a control with keys of its own is a line of `controls!`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::settings;
use tidegate_core::units::{Rate, Time};

use crate::document::transport::{ControlDoc, QuicDoc, UdpDoc};
use crate::profile::TcpDoc;

pub use crate::profile::{Ecn, TcpControl};

/// The settings of a transport with its own control, in addition to those of TCP.
trait ControlOptions {
    /// Whether every acknowledgement carries decisions of the ports. Then, unless the class says
    /// otherwise, no acknowledgement is delayed and every segment is timed.
    const EXPLICIT: bool = false;
    /// Whether losses do not change its rate. Then, unless the class says otherwise, losses are
    /// repaired by SACK, which does not slow it down.
    const LOSSLESS: bool = false;
    /// Whether losses are repaired as the TCP profile says.
    const AS_TCP: bool = false;
}

/// What a transport changes in those settings of TCP that a class leaves open.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    pub explicit: bool,
    pub lossless: bool,
    pub as_tcp: bool,
}

/// Defines the enum of controls, and that of transports in a document, from one line per control:
/// `Arm(options) = "name in documents"`.
macro_rules! controls {
    ($($(#[$doc:meta])* $arm:ident($options:ident) = $name:literal;)+) => {
        /// The control of a reliable transport other than TCP.
        #[derive(Clone, PartialEq, Debug)]
        pub enum TransportControl {
            $($(#[$doc])* $arm($options),)+
        }

        impl TransportControl {
            /// The name in documents.
            pub fn name(&self) -> &'static str {
                match self {
                    $(TransportControl::$arm(_) => $name,)+
                }
            }

            /// What it changes in the settings of TCP.
            pub(crate) fn habits(&self) -> Habits {
                match self {
                    $(TransportControl::$arm(_) => Habits {
                        explicit: $options::EXPLICIT,
                        lossless: $options::LOSSLESS,
                        as_tcp: $options::AS_TCP,
                    },)+
                }
            }
        }

        /// Transport of a class; the name alone takes all defaults, but for udp.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", expecting = "a transport, as in \"tcp\" or { tcp = { profile = \"linux\" } }")]
        pub(crate) enum TransportDoc {
            /// TCP.
            Tcp(TcpDoc),
            /// UDP at a constant rate: no connection, no acknowledgements, no retransmissions.
            Udp(UdpDoc),
            /// QUIC by a real stack.
            Quic(QuicDoc),
            $($(#[$doc])* #[serde(rename = $name)] $arm(ControlDoc<$options>),)+
        }

        impl TransportDoc {
            /// The control, if it is not TCP's own, and the settings of TCP.
            pub fn control(&mut self) -> Option<(TransportControl, &mut TcpDoc)> {
                match self {
                    TransportDoc::Tcp(_) | TransportDoc::Udp(_) | TransportDoc::Quic(_) => None,
                    $(TransportDoc::$arm(doc) => Some((TransportControl::$arm(doc.0.0.clone()), &mut doc.0.1)),)+
                }
            }
        }
    };
}

controls! {
    /// QFCP: paced at the rate that the ports grant.
    Qfcp(Qfcp) = "qfcp";
    /// RCP: paced at the rate that RCP's ports grant.
    Rcp(Rcp) = "rcp";
    /// XCP: a window that the ports change with every packet.
    Xcp(Xcp) = "xcp";
    /// VCP: a window that follows the ports' two-bit load code.
    Vcp(Vcp) = "vcp";
    /// Quick-Start: the initial rate is granted by the ports, then TCP (RFC 4782).
    QuickStart(QuickStart) = "quick-start";
    /// Blitz: all data at once, in bursts with priority levels.
    Blitz(Blitz) = "blitz";
    /// A control of the user's own, supplied by name when the simulation is built.
    Python(Python) = "python";
    /// A control out of the crate of another project, which `make stacks` builds in.
    Crate(Crate) = "crate";
}

impl Default for TransportDoc {
    fn default() -> TransportDoc {
        TransportDoc::Tcp(TcpDoc::default())
    }
}

settings! {
    /// Settings of QFCP's sender.
    "QfcpSender" as pub Qfcp:
    pacing: bool = true "Whether packets leave evenly spaced at the rate granted, not in bursts of a window" ("qfcp, 2.3");
    request: Option<Rate> = none "The rate that the sender asks for, headers included; default: no limit";
}

/// How RCP's sender repairs losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reliability {
    /// As TCP: as soon as acknowledgements show a loss.
    #[default]
    Tcp,
    /// As the authors' code: everything is sent once; then, every two round trips, what is missing.
    Own,
}

settings! {
    /// Settings of RCP's sender.
    "RcpSender" as pub Rcp:
    pacing: bool = true "Whether packets leave evenly spaced at the rate granted, not in bursts of a window";
    request: Option<Rate> = none "The rate that the sender asks for, headers included; default: no limit";
    reliability: Reliability = { Reliability::Tcp } "How lost packets are repaired; default tcp";
}

settings! {
    /// Settings of XCP's sender.
    "XcpSender" as pub Xcp:
    pacing: bool = false "Whether a window's packets are spread over the round trip" ("ns-2");
}

settings! {
    /// Settings of VCP's sender.
    "VcpSender" as pub Vcp:
    pacing: bool = false "Whether a window's packets are spread over the round trip";
    xi: f64 = 0.0625 [0 to 1] "Growth of the window per `interval` while the load is low" ("VCP 2005, 4.2");
    alpha: f64 = 1 [0 to 100] "Segments that the window gains per `interval` while the load is high" ("4.2");
    beta: f64 = 0.875 [0.1 to 1] "Factor of the window at overload" ("4.2");
    interval: Time = "200ms" ["10ms" to "10s"] "How often the ports compute the load (t_rho)" ("4.1");
}

settings! {
    /// Settings of Quick-Start's sender.
    "QuickStartSender" as pub QuickStart:
    request: Option<Rate> = none "The rate that the sender asks for with its SYN, headers included; default: no limit";
}

settings! {
    /// Settings of Blitz's sender.
    "BlitzSender" as pub Blitz:
    notice: u32 = 3 [1 to 100] "After how many duplicate acknowledgements a packet counts as lost" ("TCP; the paper does not say");
}

impl ControlOptions for Qfcp {
    const EXPLICIT: bool = true;
    const LOSSLESS: bool = true;
}

impl ControlOptions for Rcp {
    const EXPLICIT: bool = true;
    const LOSSLESS: bool = true;
}

impl ControlOptions for Xcp {
    const EXPLICIT: bool = true;
}

impl ControlOptions for Vcp {
    const EXPLICIT: bool = true;
}

impl ControlOptions for QuickStart {
    const AS_TCP: bool = true;
}

impl ControlOptions for Blitz {}

settings! {
    /// A control written in Python.
    "PythonControl" as pub Python:
    name: String = "" "Name under which the control is passed to the run";
}

impl ControlOptions for Python {
    const AS_TCP: bool = true;
}

settings! {
    /// A control out of the crate of another project.
    "CrateControl" as pub Crate:
    name: String = "" "Crate and control, as quinn:cubic";
}

impl ControlOptions for Crate {
    const AS_TCP: bool = true;
}

#[cfg(test)]
mod tests {
    use tidegate_core::law::keys::Table as _;

    use super::*;

    /// The keys of a type are those that its documentation lists in this file, by hand.
    #[test]
    fn keys_are_read_off_the_types() {
        assert_eq!(Qfcp::KEYS, ["pacing", "request"]);
        assert_eq!(Rcp::KEYS, ["pacing", "request", "reliability"]);
        assert_eq!(Xcp::KEYS, ["pacing"]);
        assert_eq!(Vcp::KEYS, ["pacing", "xi", "alpha", "beta", "interval"]);
        assert_eq!(QuickStart::KEYS, ["request"]);
        assert_eq!(Blitz::KEYS, ["notice"]);
        assert_eq!(Python::KEYS, ["name"]);
        assert_eq!(Crate::KEYS, ["name"]);
    }
}
