//! The registry of controls beside TCP's own: every one has its arm and its
//! line here.
//!
//! All of them decide for the one reliable transport, so a class can set with
//! each of them what it can set with TCP: `{ qfcp = { pacing = false, mss = "960B" } }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::units::{Rate, Time};

use crate::document::transport::{ControlDoc, TcpDoc, UdpDoc};

/// Makes the enum of controls, and that of transports in a document, from one
/// line for each: `Arm(options) = "name in documents"`.
macro_rules! controls {
    ($($(#[$doc:meta])* $arm:ident($options:ident) = $name:literal;)+) => {
        /// What decides how fast a reliable transport sends, where that is not TCP's own control.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Control {
            $($(#[$doc])* $arm($options),)+
        }

        impl Control {
            /// The name in documents.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Control::$arm(_) => $name,)+
                }
            }

            /// Name and own keys of every control.
            pub(crate) const KEYS: &[(&str, &[&str])] = &[$(($name, $options::KEYS),)+];
        }

        /// Transport of a class: of TCP and the controls beside it also the mere name.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", expecting = "a transport, as in \"tcp\" or { tcp = { profile = \"linux\" } }")]
        pub(crate) enum TransportDoc {
            /// TCP.
            Tcp(TcpDoc),
            /// UDP at a constant rate: no connection, no answer, nothing sent again.
            Udp(UdpDoc),
            $($(#[$doc])* #[serde(rename = $name)] $arm(ControlDoc<$options>),)+
        }

        impl TransportDoc {
            /// The control beside TCP's own, if that is what the class has, and the rest of its settings.
            pub fn control(&mut self) -> Option<(Control, &mut TcpDoc)> {
                match self {
                    TransportDoc::Tcp(_) | TransportDoc::Udp(_) => None,
                    $(TransportDoc::$arm(doc) => Some((Control::$arm(doc.own.clone()), &mut doc.tcp)),)+
                }
            }
        }
    };
}

controls! {
    /// QFCP: the rate that the ports grant, paced.
    Qfcp(Qfcp) = "qfcp";
    /// RCP: the same, under RCP's ports.
    Rcp(Rcp) = "rcp";
    /// XCP: a window that the ports change packet by packet.
    Xcp(Xcp) = "xcp";
    /// VCP: a window that grows and shrinks by two bits of load.
    Vcp(Vcp) = "vcp";
    /// Quick-Start: the rate that the ports grant at the start, then TCP (RFC 4782).
    QuickStart(QuickStart) = "quick-start";
    /// Blitz: everything at once, in bursts of falling priority.
    Blitz(Blitz) = "blitz";
}

impl Default for TransportDoc {
    fn default() -> TransportDoc {
        TransportDoc::Tcp(TcpDoc::default())
    }
}

/// What QFCP's sender can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "QfcpSender")]
pub struct Qfcp {
    /// Whether packets leave evenly spaced at the rate granted, not in bursts of a window; default true (qfcp, 2.3).
    pub pacing: bool,
    /// The rate that the sender asks for, headers included; default: as much as there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Rate>,
}

impl Default for Qfcp {
    fn default() -> Qfcp {
        Qfcp { pacing: true, request: None }
    }
}

/// How RCP's sender gets lost packets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reliability {
    /// As TCP: repaired as soon as acknowledgements tell of a loss.
    #[default]
    Tcp,
    /// As the authors' code: everything is sent once, and then what is missing every two round trips.
    Own,
}

/// What RCP's sender can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RcpSender")]
pub struct Rcp {
    /// Whether packets leave evenly spaced at the rate granted, not in bursts of a window; default true.
    pub pacing: bool,
    /// The rate that the sender asks for, headers included; default: as much as there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Rate>,
    /// How lost packets get through; default tcp.
    pub reliability: Reliability,
}

impl Default for Rcp {
    fn default() -> Rcp {
        Rcp { pacing: true, request: None, reliability: Reliability::Tcp }
    }
}

/// What XCP's sender can be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "XcpSender")]
pub struct Xcp {
    /// Whether a window's packets are spread over the round trip; default false (ns-2).
    pub pacing: bool,
}

/// What VCP's sender can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "VcpSender")]
pub struct Vcp {
    /// Whether a window's packets are spread over the round trip; default false.
    pub pacing: bool,
    /// Growth of the window per `interval` while the load is low; default 0.0625, 0 to 1 (VCP 2005, 4.2).
    pub xi: f64,
    /// Segments that the window gains per `interval` while it is high; default 1, 0 to 100 (4.2).
    pub alpha: f64,
    /// What is left of the window at overload; default 0.875, 0.1 to 1 (4.2).
    pub beta: f64,
    /// How often the ports compute the load (t_rho); default 200ms, 10ms to 10s (4.1).
    pub interval: Time,
}

impl Default for Vcp {
    fn default() -> Vcp {
        Vcp { pacing: false, xi: 0.0625, alpha: 1.0, beta: 0.875, interval: Time::from_ms(200) }
    }
}

/// What Quick-Start's sender can be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "QuickStartSender")]
pub struct QuickStart {
    /// The rate that the sender asks for with its SYN, headers included; default: as much as there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Rate>,
}

/// What Blitz's sender can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "BlitzSender")]
pub struct Blitz {
    /// After how many duplicate acknowledgements a packet counts as lost; default 3, 1 to 100 (TCP; the paper does not say).
    pub notice: u32,
}

impl Default for Blitz {
    fn default() -> Blitz {
        Blitz { notice: 3 }
    }
}

/// A key that is out of range, and what would be right.
type Refused = (&'static str, String);

fn within(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), Refused> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((key, format!("{value} is out of range: write a number from {low} to {high}")))
}

impl Qfcp {
    const KEYS: &[&str] = &["pacing", "request"];
}

impl Rcp {
    const KEYS: &[&str] = &["pacing", "request", "reliability"];
}

impl Xcp {
    const KEYS: &[&str] = &["pacing"];
}

impl Vcp {
    const KEYS: &[&str] = &["pacing", "xi", "alpha", "beta", "interval"];
}

impl QuickStart {
    const KEYS: &[&str] = &["request"];
}

impl Blitz {
    const KEYS: &[&str] = &["notice"];
}

impl Control {
    /// The key that is out of range, if one is, and what would be right.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        if let Control::Blitz(blitz) = self {
            return within("notice", f64::from(blitz.notice), 1.0, 100.0);
        }
        let Control::Vcp(vcp) = self else { return Ok(()) };
        within("xi", vcp.xi, 0.0, 1.0)?;
        within("alpha", vcp.alpha, 0.0, 100.0)?;
        within("beta", vcp.beta, 0.1, 1.0)?;
        let (least, most) = (Time::from_ms(10), Time::from_secs(10));
        if (least..=most).contains(&vcp.interval) {
            return Ok(());
        }
        Err((
            "interval",
            format!("{} is out of range: write a time from 10ms to 10s", vcp.interval),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that [`Control::KEYS`] lists are those of the types.
    #[test]
    fn the_keys_of_each_control_are_listed() {
        let rate = Some(Rate::from_bps(1));
        let keys = [
            toml::Table::try_from(Qfcp { request: rate, ..Qfcp::default() }),
            toml::Table::try_from(Rcp { request: rate, ..Rcp::default() }),
            toml::Table::try_from(Xcp::default()),
            toml::Table::try_from(Vcp::default()),
            toml::Table::try_from(QuickStart { request: rate }),
            toml::Table::try_from(Blitz::default()),
        ];
        for (table, (name, listed)) in keys.into_iter().zip(Control::KEYS) {
            let mut keys: Vec<String> = table.unwrap().keys().cloned().collect();
            keys.sort_unstable();
            let mut listed: Vec<&str> = listed.to_vec();
            listed.sort_unstable();
            assert_eq!(keys, listed, "{name}");
        }
        assert_eq!(Control::KEYS.len(), 6);
    }
}
