//! What a dual queue lies over, as documents have it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

use crate::law::queue::{Queue, drop_tail::DropTail, red};
use crate::law::settings::{Link, Refused};

/// The law of the data queue.
///
/// Reading expects the law's settings one level down, under its name, as for
/// every law of a port; writing gives the form of the document.
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { law = \"drop-tail\" }")]
pub struct Over {
    /// The law and its settings.
    pub law: Beneath,
}

/// The laws that a dual queue can lie over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(expecting = "a table, as in { law = \"drop-tail\" }")]
pub enum Beneath {
    /// First come, first served; what does not fit is lost.
    #[serde(rename = "drop-tail")]
    DropTail(Nothing),
    /// Random early detection.
    #[serde(rename = "red")]
    Red(red::Config),
}

/// No settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

impl Default for Beneath {
    fn default() -> Beneath {
        Beneath::DropTail(Nothing {})
    }
}

impl Over {
    /// Over RED.
    pub fn of_red(red: red::Config) -> Over {
        Over { law: Beneath::Red(red) }
    }

    /// The settings of RED, where that is the law.
    pub(super) fn red(&self) -> Option<&red::Config> {
        match &self.law {
            Beneath::DropTail(_) => None,
            Beneath::Red(red) => Some(red),
        }
    }

    /// The law at this link.
    pub(super) fn build(&self, link: Link) -> Queue {
        match &self.law {
            Beneath::DropTail(_) => Queue::DropTail(DropTail),
            Beneath::Red(red) => Queue::Red(red::Red::new(red, link)),
        }
    }

    pub(super) fn check(&self, link: Link) -> Result<(), Refused> {
        let Some(red) = self.red() else { return Ok(()) };
        red.check(link).map_err(|(field, message)| {
            let field = match field {
                "min_th" => "over.min_th",
                "max_th" => "over.max_th",
                "max_p" => "over.max_p",
                "w" => "over.w",
                "mean_packet" => "over.mean_packet",
                _ => "over",
            };
            (field, message)
        })
    }
}

/// The form of the document.
#[derive(Serialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
enum Flat<'a> {
    DropTail,
    Red(&'a red::Config),
}

impl Serialize for Over {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let flat = self.red().map_or(Flat::DropTail, Flat::Red);
        flat.serialize(to)
    }
}

impl JsonSchema for Over {
    fn schema_name() -> Cow<'static, str> {
        "Over".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let named = |name: &str, mut schema: Schema| {
            let object = schema.ensure_object();
            object.remove("default");
            object.insert("title".to_owned(), name.into());
            object.insert("required".to_owned(), vec!["law"].into());
            let properties =
                object.entry("properties").or_insert_with(|| json_schema!({}).to_value());
            if let Some(properties) = properties.as_object_mut() {
                properties.insert("law".to_owned(), json_schema!({ "const": name }).to_value());
            }
            schema
        };
        let plain = json_schema!({
            "type": "object",
            "description": "First come, first served; what does not fit is lost.",
            "additionalProperties": false,
        });
        json_schema!({
            "description": "What a dual queue lies over: { law = \"red\", min_th = 15 }.",
            "oneOf": [
                named("drop-tail", plain),
                named("red", red::Config::json_schema(generator)),
            ],
        })
    }
}
