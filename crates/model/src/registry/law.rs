//! The registry of session laws: every one has its arm and its line here.

pub mod filter;
pub mod stamp;
mod table;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error as _, value};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tidegate_core::law::Controller;
use tidegate_core::law::keys::Table as _;
use tidegate_core::law::registry::{self, Laws as _, Nothing, choice};
use tidegate_core::law::session::clients::{self, Who};
use tidegate_core::law::session::ingress::{EndsOf, Ingress, RefuseAt};
use tidegate_core::law::session::{
    self, Admission, Charge, Counts, Knobs, Limiter, Opener, Refusal, quic,
};
use tidegate_core::law::settings::{Refused, named};
use tidegate_core::units::{Rate, Time};
use tidegate_core::{keys, laws};

/// Makes the enum of session laws from one line for each:
/// `Arm(module) = "name in documents"`.
macro_rules! session_laws {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal;)+) => {
        laws! {
            /// A session law and its settings: `{ law = "close-probe", alpha_min = 10 }`.
            "SessionLaw", "Session control.", "a table, as in { law = \"close-probe\" }";
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
        let visits = self.visits();
        let ingress = Ingress::default();
        Admission {
            limiter,
            opener,
            refusal,
            charge,
            hashed,
            young,
            clients,
            visits,
            quic,
            ingress,
        }
    }

    /// Whom the law admits, where it can tell.
    fn who_mut(&mut self) -> Option<&mut Who> {
        match self {
            GateLaw::CloseProbe(config) => Some(&mut config.admit),
            GateLaw::GssGa(config) => Some(&mut config.admit),
            GateLaw::Tide(config) => Some(&mut config.admit),
            _ => None,
        }
    }

    fn who(&self) -> Option<(Who, &clients::Config)> {
        match self {
            GateLaw::CloseProbe(config) => Some((config.admit, &config.clients)),
            GateLaw::GssGa(config) => Some((config.admit, &config.clients)),
            GateLaw::Tide(config) => Some((config.admit, &config.clients)),
            _ => None,
        }
    }

    /// How clients are let in; none: the law admits each connection by itself.
    pub fn clients(&self) -> Option<&clients::Config> {
        self.who().and_then(|(who, clients)| (who != Who::Connections).then_some(clients))
    }

    /// Whether the law judges each connection by itself, with those of its client that follow.
    pub fn visits(&self) -> bool {
        self.who().is_some_and(|(who, _)| who == Who::Visits)
    }

    /// The name in documents and results; for a user's own law, the name given to it.
    pub fn name(&self) -> &str {
        match self {
            GateLaw::Custom(own) => &own.name,
            law => law.key(),
        }
    }
}

keys! {
    /// A law written in Python.
    "Python" as pub Python:
    name: String = required "Name under which the law is passed to the run";
    limiter: Limiter = { Limiter::default() } "How admissions are spread over an epoch; default counter";
}

/// What `admit` of a gate says: whom the law admits, or else which packet opens a session.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[serde(untagged)]
pub enum Admits {
    /// Whom.
    Who(Who),
    /// Which packet, as `opener`.
    Opener(Opener),
}

impl<'de> Deserialize<'de> for Admits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Admits, D::Error> {
        const NAMES: &[&str] = &["clients", "connections", "visits", "syn", "syn-ack", "either"];
        let name = String::deserialize(from)?;
        let who = Who::deserialize(value::StrDeserializer::<value::Error>::new(&name));
        let opener = || Opener::deserialize(value::StrDeserializer::<value::Error>::new(&name));
        who.map(Admits::Who)
            .or_else(|_| opener().map(Admits::Opener))
            .map_err(|_| D::Error::unknown_variant(&name, NAMES))
    }
}

impl Serialize for Admits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Admits::Who(who) => who.serialize(to),
            Admits::Opener(opener) => opener.serialize(to),
        }
    }
}

keys! {
    /// The keys that every gate has, whatever its law.
    #[derive(Default)]
    "GateKeys" as pub GateKeys:
    admit: Option<Admits> = none "`visits`, the default of `tide`: each connection with those of its client that follow the end of one; `clients`: a client with all of its connections; `connections`, the default of the others: each by itself. The first two need eligibility" + "Or which packet opens a session, as `opener`.";
    opener: Option<Opener> = none "Which packet opens a session at this port; default: the SYN of uploads, the SYN+ACK of downloads, either where data of both crosses this port" + "A session whose data goes the other way is refused by its SYN+ACK too, if that crosses this port: the two cannot be told apart.";
    refuse: Refusal = { Refusal::Drop } "How a session is refused; default drop";
    charge: Charge = { Charge::Passed } "Which opening packets count against the allowance; default passed";
    quic: Option<quic::Config> = none "How sessions of QUIC are seen; default: they are not, and pass";
    onset: Time = "0s" quiet ["0s" to "60s"] "Nothing is refused until the excess of admitted sessions, with those whose handshakes the queue lost, would take so long to end at the present pace: in two epochs where the queue loses a packet in twenty or more, or the link carries less than ten packets of each in 0.3 s; else for ten seconds; and then until an epoch without a refusal, as at a real gate" + "With 0s the law decides from the start.";
    ends_of: EndsOf = { EndsOf::Sender } quiet "Whose FIN ends a session: `peer`, as at a real gate, the receiver's, which comes in by the other direction of the link; default `sender`: the sender's, which leaves";
    refuse_at: Option<RefuseAt> = none "Where a download is refused: `ingress`, its SYN as it comes in by the other direction of the link, or `egress`, the SYN+ACK as it leaves; default `ingress` if `ends_of` is `peer`, else `egress`";
    capacity: Option<Rate> = none "The capacity that the law is told, as the file of a real gate says it; default: what the link has at the moment";
    tokens_keep: f64 = 0 quiet [0 to 60] "Epochs for which the tokens keep that nobody has used (limiter `token-bucket`); a real gate keeps them for 2" + "With 0 a bucket holds one token.";
}

/// Session control at a port: a law, and the keys that every gate has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    /// The law and its settings.
    pub law: GateLaw,
    /// The rest.
    pub keys: GateKeys,
}

impl Gate {
    /// Which packet opens a session at this port.
    pub fn opener(&self) -> Opener {
        self.written_opener().unwrap_or_default()
    }

    /// The same, as far as it is written; none: it follows from the traffic.
    pub(crate) fn written_opener(&self) -> Option<Opener> {
        match self.keys.admit {
            Some(Admits::Opener(opener)) => Some(opener),
            _ => self.keys.opener,
        }
    }

    /// What the gate sees of the other direction of its link.
    pub fn ingress(&self) -> Ingress {
        let GateKeys { ends_of, refuse_at, .. } = self.keys;
        let at = refuse_at.unwrap_or(ends_of.refuses_at());
        Ingress { openers: at == RefuseAt::Ingress, ends: ends_of == EndsOf::Peer }
    }

    /// What is wrong with the law, or with a key beside it, and what would be right.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        match (self.keys.admit, self.keys.opener) {
            (Some(Admits::Who(_)), _) => {
                let what = "this law judges each connection by itself: leave it out";
                return Err(("admit".into(), what.to_owned()));
            }
            (Some(Admits::Opener(_)), Some(_)) => {
                let what = "`admit` says which packet opens a session, as this does: leave one of \
                            the two out";
                return Err(("opener".into(), what.to_owned()));
            }
            _ => {}
        }
        if self.keys.tokens_keep > 0.0 && self.law.limiter() != Limiter::TokenBucket {
            let what =
                "only a token bucket keeps tokens for so long: write `limiter = \"token-bucket\"`";
            return Err(("tokens_keep".into(), what.to_owned()));
        }
        if self.keys.charge == Charge::Queued && self.ingress().openers {
            let what = "a SYN that is judged as it comes in meets no queue of this port: write \
                        `refuse_at = \"egress\"`, or leave it out";
            return Err(("charge".into(), what.to_owned()));
        }
        self.law.check()
    }

    /// Sets which packet opens a session: where `admit` says whom the law admits, the opener has a
    /// key of its own.
    pub(crate) fn open_by(&mut self, opener: Opener) {
        let says_whom = self.says_whom();
        self.keys.opener = says_whom.then_some(opener);
        self.keys.admit = (!says_whom).then_some(Admits::Opener(opener));
    }

    /// Whether `admit` says whom the law admits: not where that is each connection, as ever, in
    /// documents that were written before there was a choice.
    fn says_whom(&self) -> bool {
        matches!(self.law, GateLaw::Tide(_)) || self.law.clients().is_some()
    }
}

impl<'de> Deserialize<'de> for Gate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Gate, D::Error> {
        let (law, keys) = registry::law::<GateLaw, GateKeys, D>(from)?;
        let mut gate = Gate { law, keys };
        if let Some(Admits::Who(who)) = gate.keys.admit
            && let Some(admit) = gate.law.who_mut()
        {
            (*admit, gate.keys.admit) = (who, None);
        }
        // what is written twice is left for the check to refuse
        let twice = gate.keys.admit.is_some() && gate.keys.opener.is_some();
        if let Some(opener) = gate.written_opener()
            && gate.says_whom()
            && !twice
        {
            gate.open_by(opener);
        }
        Ok(gate)
    }
}

impl Serialize for Gate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.law.write(&mut map)?;
        if self.law != GateLaw::default() {
            self.keys.write(&mut map)?;
        }
        map.end()
    }
}

impl JsonSchema for Gate {
    fn schema_name() -> Cow<'static, str> {
        "Gate".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let shared = GateKeys::json_schema(generator);
        let shared = shared.get("properties").and_then(|keys| keys.as_object());
        let shared: Vec<(&str, Schema)> = shared
            .into_iter()
            .flatten()
            .filter_map(|(key, schema)| Some((key.as_str(), schema.clone().try_into().ok()?)))
            .collect();
        choice(GateLaw::schemas(generator), &shared, "Session control.")
    }
}
