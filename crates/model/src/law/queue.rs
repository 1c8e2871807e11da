//! The registry of queueing disciplines: every one has its arm and its line here.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer, ser};
use tidegate_core::law::queue::{self, drop_tail, dual_queue, pie, pushout, red};
use tidegate_core::law::settings::Link;

use super::{Nothing, choice, flat};

/// Makes the enum of disciplines from one line for each beside drop-tail:
/// `Arm(module) = "name in documents"`.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal;)+) => {
        /// Queueing discipline of a port, and its parameters.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub enum Queue {
            /// First come, first served; what does not fit is lost.
            #[default]
            DropTail,
            $($(#[$doc])* $arm($module::Config),)+
        }

        impl Queue {
            /// The name in documents.
            pub fn name(&self) -> &'static str {
                match self {
                    Queue::DropTail => "drop-tail",
                    $(Queue::$arm(_) => $name,)+
                }
            }

            /// The discipline at this link.
            pub fn build(&self, link: Link) -> queue::Queue {
                match self {
                    Queue::DropTail => queue::Queue::DropTail(drop_tail::DropTail),
                    $(Queue::$arm(config) => queue::Queue::$arm($module::$arm::new(config, link)),)+
                }
            }

            /// The key that is out of range at this link, if one is, and what would be right.
            pub(crate) fn check(&self, link: Link) -> Result<(), (&'static str, String)> {
                match self {
                    Queue::DropTail => Ok(()),
                    $(Queue::$arm(config) => config.check(link),)+
                }
            }
        }

        /// A queueing discipline as the (rearranged) document has it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(expecting = "a table, as in { law = \"drop-tail\" }")]
        pub(crate) enum DisciplineDoc {
            #[serde(rename = "drop-tail")]
            DropTail(Nothing),
            $(#[serde(rename = $name)] $arm($module::Config),)+
        }

        impl Default for DisciplineDoc {
            fn default() -> DisciplineDoc {
                DisciplineDoc::DropTail(Nothing {})
            }
        }

        impl DisciplineDoc {
            /// The discipline.
            pub fn queue(&self) -> Queue {
                match self {
                    DisciplineDoc::DropTail(_) => Queue::DropTail,
                    $(DisciplineDoc::$arm(config) => Queue::$arm(config.clone()),)+
                }
            }

            /// Name and settings of every discipline, for the schema.
            fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![
                    ("drop-tail", Nothing::json_schema(generator)),
                    $(($name, $module::Config::json_schema(generator)),)+
                ]
            }
        }
    };
}

disciplines! {
    /// Random early detection.
    Red(red) = "red";
    /// Connection packets lost sooner than data.
    DualQueue(dual_queue) = "dual-queue";
    /// The worst packet gives way to a better one.
    PushOut(pushout) = "pushout";
    /// The proportional integral controller enhanced.
    Pie(pie) = "pie";
}

/// Queueing discipline of a port: `{ law = "red", min_th = 15, max_th = 45 }`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { law = \"drop-tail\" }")]
pub(crate) struct QueueDoc {
    /// The discipline and its settings.
    pub law: DisciplineDoc,
}

impl Serialize for QueueDoc {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        flat(&self.law).map_err(ser::Error::custom)?.serialize(to)
    }
}

impl JsonSchema for QueueDoc {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        choice(DisciplineDoc::schemas(generator), &[], "Queueing discipline.")
    }
}
