//! Tables of things by name, in the order of the document.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};

/// Things by name, in the order of the document.
pub(crate) type Named<T> = IndexMap<String, T>;

/// A value of whatever type, looked at elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Anything, D::Error> {
        serde::de::IgnoredAny::deserialize(from).map(|_| Anything)
    }
}

impl JsonSchema for Anything {
    fn schema_name() -> Cow<'static, str> {
        "Anything".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}
