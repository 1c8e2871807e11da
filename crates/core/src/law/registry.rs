//! A law in a document: a name and settings, as in `{ law = "red", min_th = 15 }`.
//!
//! [`laws!`](crate::laws) makes the enum of a kind of laws from one line for
//! each law. The enum is read with the settings one level down, under the law's
//! name (`{ red = { min_th = 15 } }`), so that an error can name the law. It is
//! written in the form of the document.

use schemars::{Schema, json_schema};

use super::settings::{Link, Refused};

/// Makes the enum of several laws' settings from one line for each,
/// `Arm(settings) = "name"`.
///
/// A law that was renamed keeps its old name in effective scenarios and in
/// results, so that runs saved before stay comparable. Documents may use either:
/// `Arm(settings) = "old name" renamed "new name"`.
#[macro_export]
macro_rules! laws {
    (
        $(#[$meta:meta])*
        pub enum $Laws:ident {
            $($(#[$doc:meta])* $arm:ident($config:ty) = $name:literal $(renamed $new:literal)?,)+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        $(#[$meta])*
        pub enum $Laws {
            $($(#[$doc])* #[serde(rename = $name $(, alias = $new)?)] $arm($config),)+
        }

        impl $Laws {
            /// The name in effective scenarios and in results.
            pub fn key(&self) -> &'static str {
                match self {
                    $($Laws::$arm(_) => $name,)+
                }
            }

            /// Names (the current one first) and settings of every law.
            pub fn schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> Vec<(&'static [&'static str], schemars::Schema)> {
                vec![$((
                    &[$($new,)? $name] as &[&str],
                    <$config as schemars::JsonSchema>::json_schema(generator),
                ),)+]
            }
        }

        impl serde::Serialize for $Laws {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                #[derive(serde::Serialize)]
                #[serde(tag = "law")]
                enum Flat<'a> {
                    $(#[serde(rename = $name)] $arm(&'a $config),)+
                }
                match self {
                    $($Laws::$arm(config) => Flat::$arm(config).serialize(to),)+
                }
            }
        }
    };
}

/// Makes the type of a key of a document that is a law and nothing else, from its laws, the name of
/// its schema, and words: `struct Stage(law's type) of Laws = "Name", "What it is.";`.
///
/// It is read with the law's settings one level down, under the law's name.
#[macro_export]
macro_rules! stage {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Stage:ident($law:ty) of $Laws:ident = $name:literal, $text:literal;
    ) => {
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        $(#[$meta])*
        $vis struct $Stage {
            /// The law and its settings.
            pub law: $law,
        }

        impl serde::Serialize for $Stage {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.law.serialize(to)
            }
        }

        impl schemars::JsonSchema for $Stage {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::law::registry::choice($Laws::schemas(generator), &[], $text)
            }
        }
    };
}

/// No settings.
#[derive(
    Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

impl Nothing {
    /// Nothing can be out of range.
    ///
    /// # Errors
    /// None.
    pub fn check(&self, _: Link) -> Result<(), Refused> {
        Ok(())
    }
}

/// A schema of `{ law = name, settings }` for any of several laws; the
/// `shared` keys are allowed with each.
pub fn choice(laws: Vec<(&[&str], Schema)>, shared: &[(&str, Schema)], text: &str) -> Schema {
    let one = |(names, mut schema): (&[&str], Schema)| {
        let object = schema.ensure_object();
        object.remove("default");
        object.insert("title".to_owned(), names[0].into());
        object.insert("additionalProperties".to_owned(), false.into());
        let required =
            object.entry("required").or_insert_with(|| Vec::<String>::new().into()).as_array_mut();
        if let Some(required) = required {
            required.push("law".into());
        }
        let properties = object.entry("properties").or_insert_with(|| json_schema!({}).to_value());
        if let Some(properties) = properties.as_object_mut() {
            let law = match names {
                [name] => json_schema!({ "const": name }),
                names => json_schema!({ "enum": names }),
            };
            properties.insert("law".to_owned(), law.to_value());
            for (key, schema) in shared {
                properties.insert((*key).to_owned(), schema.clone().to_value());
            }
        }
        schema
    };
    let laws: Vec<Schema> = laws.into_iter().map(one).collect();
    json_schema!({ "description": text, "oneOf": laws })
}
