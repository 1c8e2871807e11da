//! The registry of session laws: every one has its arm and its line here.

pub mod filter;
pub mod stamp;
mod table;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use tidegate_core::law::Controller;
use tidegate_core::law::registry::{Nothing, choice};
use tidegate_core::law::session::clients::{self, Who};
use tidegate_core::law::session::{
    self, Admission, Charge, Counts, Knobs, Limiter, Opener, Refusal, quic,
};
use tidegate_core::law::settings::{Refused, named};
use tidegate_core::laws;
use tidegate_core::units::{Rate, Time};

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
    /// Which sessions the law's datapath sees at a link of this rate, and how it admits and refuses
    /// them.
    pub fn admission(&self, opener: Opener, refusal: Refusal, rate: Rate) -> Admission {
        let (hashed, young) = match self {
            GateLaw::CloseProbe(config) => (config.eligibility, None),
            GateLaw::GssGa(config) => (config.eligibility, None),
            GateLaw::Tide(config) => (config.eligibility, Some(config.young.at(rate))),
            _ => (false, None),
        };
        let (charge, clients, quic) = (Charge::default(), self.clients().copied(), None);
        let limiter = self.limiter();
        Admission { limiter, opener, refusal, charge, hashed, young, clients, quic }
    }

    /// How clients are let in; none: the law admits each connection by itself.
    pub fn clients(&self) -> Option<&clients::Config> {
        let (who, clients) = match self {
            GateLaw::CloseProbe(config) => (config.admit, &config.clients),
            GateLaw::GssGa(config) => (config.admit, &config.clients),
            GateLaw::Tide(config) => (config.admit, &config.clients),
            _ => return None,
        };
        (who == Who::Clients).then_some(clients)
    }

    /// The name in documents and results; for a user's own law, the name given to it.
    pub fn name(&self) -> &str {
        match self {
            GateLaw::Custom(own) => &own.name,
            law => law.key(),
        }
    }
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
/// Read with the law's settings in a table under its name, where [`rearrange`] puts them; written in
/// the form of the document.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { law = \"close-probe\" }")]
pub(crate) struct GateDoc {
    /// The law and its settings.
    pub law: GateLaw,
    /// Which packet opens a session at this port; none: it follows from the traffic.
    #[serde(default, alias = "opener")]
    pub admit: Option<Opener>,
    /// How a session is refused.
    #[serde(default)]
    pub refuse: Refusal,
    /// Which opening packets count against the allowance.
    #[serde(default)]
    pub charge: Charge,
    /// How sessions of QUIC are seen; none: they are not.
    #[serde(default)]
    pub quic: Option<quic::Config>,
    /// How long the excess sessions must take to end before any is refused.
    #[serde(default)]
    pub onset: Time,
    /// Epochs for which unused tokens keep.
    #[serde(default)]
    pub tokens_keep: f64,
}

/// The keys that every law shares. Where clients are admitted, `admit` says so, and the opener has
/// a key of its own.
#[derive(Serialize)]
struct Shared {
    #[serde(skip_serializing_if = "Option::is_none")]
    admit: Option<Opener>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opener: Option<Opener>,
    refuse: Refusal,
    charge: Charge,
    #[serde(skip_serializing_if = "Option::is_none")]
    quic: Option<quic::Config>,
    #[serde(skip_serializing_if = "at_once")]
    onset: Time,
    #[serde(skip_serializing_if = "not_at_all")]
    tokens_keep: f64,
}

/// Whether no token keeps.
fn not_at_all(tokens_keep: &f64) -> bool {
    *tokens_keep == 0.0
}

/// Whether the law decides from the start.
fn at_once(onset: &Time) -> bool {
    *onset == Time::ZERO
}

impl Serialize for GateDoc {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let GateDoc { ref law, admit, refuse, charge, quic, onset, tokens_keep } = *self;
        let by_clients = law.clients().is_some();
        let (opener, admit) = if by_clients { (admit, None) } else { (None, admit) };
        let shared = Shared { admit, opener, refuse, charge, quic, onset, tokens_keep };
        let shared = (*law != GateLaw::default()).then(|| toml::Value::try_from(shared));
        together([toml::Value::try_from(law)].into_iter().chain(shared), to)
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
                described::<AdmitDoc>(
                    generator,
                    "`clients`: a client is let in with all of its connections (laws with eligibility); `connections`, the default: each by itself. Or which packet opens a session, as `opener`.",
                ),
            ),
            (
                "opener",
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
                    "Which opening packets count against the allowance; default passed.",
                ),
            ),
            (
                "quic",
                described::<quic::Config>(
                    generator,
                    "How sessions of QUIC are seen; default: they are not, and pass.",
                ),
            ),
            (
                "onset",
                described::<Time>(
                    generator,
                    "Nothing is refused until the excess of admitted sessions would take so long to end at the present pace, and then until an epoch without a refusal, as at a real gate; default 0s: the law decides from the start, 0s to 60s.",
                ),
            ),
            (
                "tokens_keep",
                described::<f64>(
                    generator,
                    "Epochs for which the tokens keep that nobody has used (limiter `token-bucket`); a real gate keeps them for 2; default 0: a bucket holds one token; 0 to 60.",
                ),
            ),
        ];
        choice(GateLaw::schemas(generator), &shared, "Session control.")
    }
}

/// What `admit` may say: a law's setting, or the opener.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum AdmitDoc {
    Who(Who),
    Opener(Opener),
}

/// The schema of `T`, described.
fn described<T: JsonSchema>(generator: &mut SchemaGenerator, text: &str) -> Schema {
    let mut schema = T::json_schema(generator);
    schema.insert("description".to_owned(), text.into());
    schema
}
