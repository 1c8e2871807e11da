//! The registry of session laws: every one has its arm and its line here.

pub mod filter;
pub mod stamp;
mod table;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use tidegate_core::law::Controller;
use tidegate_core::law::registry::{Nothing, choice};
use tidegate_core::law::session::{
    self, Admission, Charge, Counts, Knobs, Limiter, Opener, Refusal,
};
use tidegate_core::law::settings::Refused;
use tidegate_core::laws;

use crate::document::transport::together;

/// Makes the enum of session laws from one line for each:
/// `Arm(module) = "name in documents"`.
macro_rules! session_laws {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal;)+) => {
        laws! {
            /// A session law and its settings.
            #[serde(expecting = "a table, as in { law = \"close-probe\" }")]
            pub enum GateLaw {
                /// No control: everything passes.
                None(Nothing) = "none",
                $($(#[$doc])* $arm(session::$module::Config) = $name,)+
                /// A law of the user's own, supplied by name when the simulation is built.
                Custom(Python) = "python",
            }
        }

        impl GateLaw {
            /// The limiter of the law's datapath.
            pub fn limiter(&self) -> Limiter {
                match self {
                    GateLaw::None(_) => Limiter::default(),
                    $(GateLaw::$arm(config) => config.limiter(),)+
                    GateLaw::Custom(own) => own.limiter,
                }
            }

            /// The law's controller; none for a custom law, which the caller supplies.
            pub fn build(&self) -> Option<Box<dyn Controller<Knobs, Counts>>> {
                match self {
                    $(GateLaw::$arm(config) => Some(Box::new(session::$module::$arm::new(config.clone()))),)+
                    GateLaw::None(_) | GateLaw::Custom(_) => None,
                }
            }

            /// The key that is out of range, if one is, and what would be right.
            pub(crate) fn check(&self) -> Result<(), Refused> {
                match self {
                    GateLaw::None(_) => Ok(()),
                    $(GateLaw::$arm(config) => config.check(),)+
                    GateLaw::Custom(own) => named(&own.name),
                }
            }
        }
    };
}

session_laws! {
    /// A fixed number of sessions per second.
    FixedRate(fixed_rate) = "fixed-rate";
    /// Golden section search, then gradient ascent.
    GssGa(gss_ga) = "gss-ga";
    /// Close and probe.
    CloseProbe(close_probe) = "close-probe";
    /// As many sessions as the link can serve; long flows are distinguished, and the same sessions stay refused.
    Tide(tide) = "tide";
    /// All or nothing, by the share of time in which the link is sending.
    Occupancy(occupancy) = "occupancy";
    /// All or nothing, by the share of packets that the queue loses.
    LossRate(loss_rate) = "loss-rate";
}

impl Default for GateLaw {
    fn default() -> GateLaw {
        GateLaw::None(Nothing {})
    }
}

impl GateLaw {
    /// What the law's datapath looks at and how it admits and refuses.
    pub fn admission(&self, opener: Opener, refusal: Refusal) -> Admission {
        let (hashed, young) = match self {
            GateLaw::CloseProbe(config) => (config.eligibility, None),
            GateLaw::GssGa(config) => (config.eligibility, None),
            GateLaw::Tide(config) => (config.eligibility, Some(config.young)),
            _ => (false, None),
        };
        let charge = Charge::default();
        Admission { limiter: self.limiter(), opener, refusal, charge, hashed, young }
    }

    /// The name in documents and results; of a custom law, its own.
    pub fn name(&self) -> &str {
        match self {
            GateLaw::Custom(own) => &own.name,
            law => law.key(),
        }
    }
}

/// A law of the user's own has a name.
fn named(name: &str) -> Result<(), Refused> {
    if name.is_empty() {
        let what = "a law needs a name: name the class or function";
        return Err(("name".into(), what.to_owned()));
    }
    Ok(())
}

/// A law written in Python.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// Name under which the law is passed to the run.
    pub name: String,
    /// How admissions are spread over an epoch; default counter.
    #[serde(default)]
    pub limiter: Limiter,
}

/// Session control at a port: `{ law = "close-probe", alpha_min = 10 }`.
///
/// Reading expects the law's own settings in a table under its name,
/// where [`rearrange`] puts them; writing gives the form of the document.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { law = \"close-probe\" }")]
pub(crate) struct GateDoc {
    /// The law and its settings.
    pub law: GateLaw,
    /// Which packet opens a session at this port; none: what the traffic that crosses it says.
    #[serde(default)]
    pub admit: Option<Opener>,
    /// How a session is refused.
    #[serde(default)]
    pub refuse: Refusal,
    /// Which openers are charged to the allowance.
    #[serde(default)]
    pub charge: Charge,
}

/// The keys besides those of the law.
#[derive(Serialize)]
struct Beside {
    #[serde(skip_serializing_if = "Option::is_none")]
    admit: Option<Opener>,
    refuse: Refusal,
    charge: Charge,
}

impl Serialize for GateDoc {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let GateDoc { ref law, admit, refuse, charge } = *self;
        let beside = (*law != GateLaw::default())
            .then(|| toml::Value::try_from(Beside { admit, refuse, charge }));
        together([toml::Value::try_from(law)].into_iter().chain(beside), to)
    }
}

impl JsonSchema for GateDoc {
    fn schema_name() -> Cow<'static, str> {
        "Gate".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let shared = [
            (
                "admit",
                described::<Opener>(
                    generator,
                    "Which packet opens a session at this port; default: the SYN of uploads, the SYN+ACK of downloads, either where data of both crosses this port.",
                ),
            ),
            ("refuse", described::<Refusal>(generator, "How a session is refused; default drop.")),
            (
                "charge",
                described::<Charge>(
                    generator,
                    "Which openers are charged to the allowance; default passed.",
                ),
            ),
        ];
        choice(GateLaw::schemas(generator), &shared, "Session control.")
    }
}

/// The schema of `T`, described.
fn described<T: JsonSchema>(generator: &mut SchemaGenerator, text: &str) -> Schema {
    let mut schema = T::json_schema(generator);
    schema.insert("description".to_owned(), text.into());
    schema
}
