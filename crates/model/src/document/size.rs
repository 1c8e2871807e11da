//! How much a flow has to send, as it is written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use tidegate_core::units::{Size, parse::UnitError};

/// `"4000B"`, `"unlimited"` or a distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct SizeDoc(pub Distribution);

/// The distribution of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Distribution {
    /// Always the same.
    Constant(Size),
    /// Pareto: P(size > x) = (scale/x)^shape, with scale = mean (shape - 1)/shape.
    Pareto(Pareto<Size>),
    /// Exponential.
    Exponential(Exponential<Size>),
    /// Lognormal.
    Lognormal(Lognormal<Size>),
    /// A distribution function read from a file.
    Empirical(Empirical),
    /// Without end, or until the class's `stop`.
    Unlimited,
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with a mean and a shape, as in { mean = \"10kB\", shape = 1.5 }"
)]
#[schemars(rename = "{M}Pareto")]
pub(crate) struct Pareto<M> {
    /// Mean.
    pub mean: M,
    /// Shape, above 1 (else there is no mean), up to 1000.
    pub shape: f64,
}

/// An exponential distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table with a mean, as in { mean = \"10kB\" }")]
#[schemars(rename = "{M}Exponential")]
pub(crate) struct Exponential<M> {
    /// Mean.
    pub mean: M,
}

/// A lognormal distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with a mean and a sigma, as in { mean = \"10kB\", sigma = 1.0 }"
)]
#[schemars(rename = "{M}Lognormal")]
pub(crate) struct Lognormal<M> {
    /// Mean.
    pub mean: M,
    /// Standard deviation of the natural logarithm, above 0, up to 10.
    pub sigma: f64,
}

/// A distribution function read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table, as in { file = \"web-search.csv\" }")]
pub(crate) struct Empirical {
    /// File of two columns, size in bytes and cumulative probability (0 to 1); linear in between. Relative to the scenario's folder.
    pub file: String,
    /// Mean that the sizes are scaled to; default: the file's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Size>,
}

impl<'de> Deserialize<'de> for SizeDoc {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SizeDoc, D::Error> {
        struct Sizes;
        impl<'de> Visitor<'de> for Sizes {
            type Value = SizeDoc;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size, as in \"4000B\", { pareto = { mean = \"10kB\", shape = 1.5 } } or \"unlimited\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeDoc, E> {
                if text == "unlimited" {
                    return Ok(SizeDoc(Distribution::Unlimited));
                }
                text.parse().map(|size| SizeDoc(Distribution::Constant(size))).map_err(
                    |error: UnitError| {
                        let other = "; or \"unlimited\", or a distribution, as in \
                                     { exponential = { mean = \"10kB\" } }";
                        E::custom(format!("{}\n{}{other}", error.what, error.help))
                    },
                )
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SizeDoc, A::Error> {
                Distribution::deserialize(de::value::MapAccessDeserializer::new(map)).map(SizeDoc)
            }
        }
        from.deserialize_any(Sizes)
    }
}

impl JsonSchema for SizeDoc {
    fn schema_name() -> Cow<'static, str> {
        "FlowSize".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How much each flow has to send: a size, a distribution or \"unlimited\".",
            "anyOf": [
                generator.subschema_for::<Size>(),
                generator.subschema_for::<Distribution>(),
            ],
        })
    }
}
