//! The registry of rate laws: every one has its arm and its line here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::law::rate;
use tidegate_core::law::registry::Nothing;
use tidegate_core::law::settings::{Link, Refused, named};
use tidegate_core::{keys, laws, port};

/// Makes the enum of rate laws from one line for each:
/// `Arm(module) = "name in documents", Stamp(how to make its datapath)`.
macro_rules! rate_laws {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal, $stamp:ident($datapath:expr);)+) => {
        laws! {
            /// A rate law and its settings: `{ law = "qfcp", beta = 0.5 }`.
            "Stamp", "Explicit rates.", "a table, as in { law = \"qfcp\" }";
            pub enum StampLaw {
                /// No stamp.
                None(Nothing) = "none",
                $($(#[$doc])* $arm(rate::$module::Config) = $name,)+
                /// A law of the user's own, supplied by name when the simulation is built.
                Custom(Python) = "python",
            }
        }

        impl StampLaw {
            /// The stamp at this link; none for a custom law, whose controller the caller supplies.
            pub fn build(&self, link: Link) -> Option<port::Stamp> {
                match self {
                    $(StampLaw::$arm(config) => {
                        let law = Box::new(rate::$module::$arm::new(config, link));
                        Some(port::Stamp::$stamp(port::Stage::new($datapath, law)))
                    })+
                    StampLaw::None(_) | StampLaw::Custom(_) => None,
                }
            }

            /// The datapath of the law, by its name in `port::Stamp`; a law in Python has grants.
            fn datapath(&self) -> &'static str {
                match self {
                    StampLaw::None(_) => "",
                    $(StampLaw::$arm(_) => stringify!($stamp),)+
                    StampLaw::Custom(_) => "Grant",
                }
            }

            /// The key that is out of range, if one is, and what would be right.
            pub(crate) fn check(&self) -> Result<(), Refused> {
                match self {
                    StampLaw::None(_) => Ok(()),
                    $(StampLaw::$arm(config) => config.check(),)+
                    StampLaw::Custom(own) => named(&own.name),
                }
            }
        }
    };
}

rate_laws! {
    /// An equal share, by an estimate of the number of flows.
    Qfcp(qfcp) = "qfcp", Grant(rate::Grant);
    /// A change of rate in every packet.
    Xcp(xcp) = "xcp", Share(rate::xcp::Share::default());
    /// One rate, adjusted by spare capacity and queue.
    Rcp(rcp) = "rcp", Grant(rate::Grant);
    /// Two bits of load.
    Vcp(vcp) = "vcp", Load(rate::vcp::Load);
}

impl StampLaw {
    /// Whether it grants a rate, which is what senders by qfcp, rcp and quick-start read.
    pub(crate) fn grants(&self) -> bool {
        self.datapath() == "Grant"
    }

    /// The transport whose senders use what it writes: a law that grants rates by another name
    /// than rcp has the senders of qfcp.
    pub(crate) fn sender(&self) -> &str {
        match self {
            StampLaw::Rcp(_) => self.name(),
            _ if self.grants() => "qfcp",
            _ => self.name(),
        }
    }

    /// The name in documents and results; of a custom law, its own.
    pub fn name(&self) -> &str {
        match self {
            StampLaw::Custom(own) => &own.name,
            law => law.key(),
        }
    }
}

/// The datapaths that a user's own law can control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatapathDoc {
    /// No flow gets more than the one rate that the law sets, as with qfcp and rcp.
    #[default]
    Grant,
}

keys! {
    /// A law written in Python.
    "PythonRate" as pub Python:
    name: String = required "Name under which the law is passed to the run";
    // effective scenarios keep the old name, by which saved runs are found
    #[schemars(rename = "datapath")]
    half as "datapath": DatapathDoc = { DatapathDoc::default() } "The datapath that it controls; default grant";
}
