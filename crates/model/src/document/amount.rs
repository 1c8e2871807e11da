//! A number of things or a time that may be drawn, as it is written.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use tidegate_core::units::Time;

use super::size::{Exponential, Lognormal, Pareto};

/// What a distribution can be of.
pub(crate) trait Quantity: DeserializeOwned + JsonSchema + Serialize {
    /// What was expected in place of a wrong value.
    const EXPECTED: &'static str;
    /// As a bare number, in seconds where it is a time.
    fn number(&self) -> f64;
}

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Count(pub f64);

impl Quantity for Count {
    const EXPECTED: &'static str = "a number, as in 20, or { pareto = { mean = 20, shape = 1.5 } }";
    fn number(&self) -> f64 {
        self.0
    }
}

impl Quantity for Time {
    const EXPECTED: &'static str =
        "a time, as in \"20ms\", or { exponential = { mean = \"20ms\" } }";
    fn number(&self) -> f64 {
        self.secs()
    }
}

/// A value, or a distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Amount<M>(pub Spread<M>);

/// How values are spread around their mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "{M}Distribution")]
pub(crate) enum Spread<M> {
    /// Always the same.
    Constant(M),
    /// Pareto: P(value > x) = (scale/x)^shape, with scale = mean (shape - 1)/shape.
    Pareto(Pareto<M>),
    /// Exponential.
    Exponential(Exponential<M>),
    /// Lognormal.
    Lognormal(Lognormal<M>),
}

impl<'de, M: Quantity> Deserialize<'de> for Amount<M> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Amount<M>, D::Error> {
        struct Amounts<M>(PhantomData<M>);
        impl<M: Quantity> Amounts<M> {
            fn constant<'de, E: de::Error>(
                value: impl Deserializer<'de, Error = E>,
            ) -> Result<Amount<M>, E> {
                M::deserialize(value).map(|value| Amount(Spread::Constant(value)))
            }
        }
        impl<'de, M: Quantity> Visitor<'de> for Amounts<M> {
            type Value = Amount<M>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(M::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount<M>, E> {
                Self::constant(de::value::StrDeserializer::new(text))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Amount<M>, E> {
                Self::constant(de::value::I64Deserializer::new(number))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Amount<M>, E> {
                Self::constant(de::value::F64Deserializer::new(number))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Amount<M>, A::Error> {
                Spread::deserialize(de::value::MapAccessDeserializer::new(map)).map(Amount)
            }
        }
        from.deserialize_any(Amounts(PhantomData))
    }
}

impl<M: Quantity> JsonSchema for Amount<M> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrDistribution", M::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value, or a distribution.",
            "anyOf": [generator.subschema_for::<M>(), generator.subschema_for::<Spread<M>>()],
        })
    }
}
