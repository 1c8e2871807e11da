//! The registry of laws against greedy flows.

use tidegate_core::law::greedy::{Filter, Names, lgc};
use tidegate_core::law::registry::Nothing;
use tidegate_core::law::settings::{Refused, named};
use tidegate_core::{keys, laws};

/// Makes the enum of such laws from one line for each: `Arm(module) = "name in documents"`.
macro_rules! filter_laws {
    ($($(#[$doc:meta])* $arm:ident($module:ident) = $name:literal;)+) => {
        laws! {
            /// A law against greedy flows and its settings: `{ law = "lgc", max_th = 25 }`.
            "Filter", "Filters against greedy flows.", "a table, as in { law = \"lgc\" }";
            pub enum FilterLaw {
                /// No filter.
                None(Nothing) = "none",
                $($(#[$doc])* $arm($module::Config) = $name,)+
                /// A filter of the user's own, supplied by name when the simulation is built.
                Custom(Python) = "python",
            }
        }

        impl FilterLaw {
            /// The key that is out of range, if one is, and what would be right.
            pub(crate) fn check(&self) -> Result<(), Refused> {
                match self {
                    FilterLaw::None(_) => Ok(()),
                    $(FilterLaw::$arm(config) => config.check(),)+
                    FilterLaw::Custom(own) => named(&own.name),
                }
            }

            /// The built-in law, for a carrier that identifies packets by `names`.
            pub(crate) fn build(&self, names: impl FnOnce() -> Names) -> Option<Box<dyn Filter>> {
                match self {
                    FilterLaw::None(_) | FilterLaw::Custom(_) => None,
                    $(FilterLaw::$arm(config) => {
                        Some(Box::new($module::AtPort::new(config, names())))
                    })+
                }
            }
        }
    };
}

filter_laws! {
    /// Limiting greedy connections, by filters that move to their sources.
    Lgc(lgc) = "lgc";
}

impl FilterLaw {
    /// The name in documents and results; of a user's own filter, the name given to it.
    pub fn name(&self) -> &str {
        match self {
            FilterLaw::Custom(own) => &own.name,
            law => law.key(),
        }
    }
}

keys! {
    /// A filter written in Python.
    "PythonFilter" as pub Python:
    name: String = required "Name under which the filter is passed to the run";
}
