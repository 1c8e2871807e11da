//! The registry of laws against greedy flows.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer, ser};
use tidegate_core::law::greedy::lgc;
use tidegate_core::law::settings::Refused;

use super::{Nothing, choice, flat};

/// Makes the enum of such laws from one line for each: `Arm(module) = "name in documents"`.
macro_rules! filter_laws {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal;)+) => {
        /// A law against greedy flows, and its parameters.
        #[derive(Clone, PartialEq, Debug)]
        pub enum FilterLaw {
            $($(#[$doc])* $arm($module::Config),)+
        }

        impl FilterLaw {
            /// The name in documents and results.
            pub fn name(&self) -> &'static str {
                match self {
                    $(FilterLaw::$arm(_) => $name,)+
                }
            }

            /// The key that is out of range, if one is, and what would be right.
            pub(crate) fn check(&self) -> Result<(), Refused> {
                match self {
                    $(FilterLaw::$arm(config) => config.check(),)+
                }
            }
        }

        /// Such a law as the (rearranged) document has it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(expecting = "a table, as in { law = \"lgc\" }")]
        pub(crate) enum FilterLawDoc {
            #[serde(rename = "none")]
            None(Nothing),
            $(#[serde(rename = $name)] $arm($module::Config),)+
        }

        impl Default for FilterLawDoc {
            fn default() -> FilterLawDoc {
                FilterLawDoc::None(Nothing {})
            }
        }

        impl FilterLawDoc {
            /// The law, if there is one.
            pub fn law(&self) -> Option<FilterLaw> {
                match self {
                    FilterLawDoc::None(_) => None,
                    $(FilterLawDoc::$arm(config) => Some(FilterLaw::$arm(config.clone())),)+
                }
            }

            /// Name and settings of every law, for the schema.
            fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![
                    ("none", Nothing::json_schema(generator)),
                    $(($name, $module::Config::json_schema(generator)),)+
                ]
            }
        }
    };
}

filter_laws! {
    /// Limiting greedy connections, by filters that move to their sources.
    Lgc(lgc) = "lgc";
}

/// Filters of a port: `{ law = "lgc", max_th = 25 }`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { law = \"lgc\" }")]
pub(crate) struct FilterDoc {
    /// The law and its settings.
    pub law: FilterLawDoc,
}

impl FilterDoc {
    /// Whether the port filters nothing.
    pub fn is_none(&self) -> bool {
        self.law.law().is_none()
    }
}

impl Serialize for FilterDoc {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        flat(&self.law).map_err(ser::Error::custom)?.serialize(to)
    }
}

impl JsonSchema for FilterDoc {
    fn schema_name() -> Cow<'static, str> {
        "Filter".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        choice(FilterLawDoc::schemas(generator), &[], "Filters against greedy flows.")
    }
}
