//! A law in a document: a name and settings, as in `{ law = "red", min_th = 15 }`.
//!
//! [`laws!`](crate::laws) makes the enum of a kind of laws from one line for
//! each law.

use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess};
use serde::ser::SerializeMap;

use super::keys::{OneOf, Table};
use super::settings::{Link, Refused};

/// Makes the enum of several laws' settings from the name of its schema, words, what can be written
/// in its place, and one line for each, `Arm(settings) = "name"`. The first is the default.
///
/// A law that was renamed keeps its old name in effective scenarios and in
/// results, so that runs saved before stay comparable. Documents may use either:
/// `Arm(settings) = "old name" renamed "new name"`.
#[macro_export]
macro_rules! laws {
    (@default $Laws:ident $first:ident $($other:ident)*) => {
        impl Default for $Laws {
            fn default() -> $Laws {
                $Laws::$first(Default::default())
            }
        }
    };
    (
        $(#[$meta:meta])*
        $schema:literal, $text:literal, $expecting:literal;
        pub enum $Laws:ident {
            $($(#[$doc:meta])* $arm:ident($config:ty) = $name:literal $(renamed $new:literal)?,)+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq)]
        $(#[$meta])*
        pub enum $Laws {
            $($(#[$doc])* $arm($config),)+
        }

        impl $Laws {
            /// The name in effective scenarios and in results.
            pub fn key(&self) -> &'static str {
                match self {
                    $($Laws::$arm(_) => $name,)+
                }
            }
        }

        $crate::laws! { @default $Laws $($arm)+ }

        impl $crate::law::registry::Laws for $Laws {
            const EXPECTING: &'static str = $expecting;
            const NAMES: &'static [&'static str] = &[$($($new,)? $name,)+];

            fn read<'de, Shared: $crate::law::keys::Table, A: serde::de::MapAccess<'de>>(
                name: &str,
                rest: A,
            ) -> Result<($Laws, Shared), A::Error> {
                $(if name == $name $(|| name == $new)? {
                    let (own, shared) = $crate::law::keys::rest::<($config, Shared), A>(rest)?;
                    return Ok(($Laws::$arm(own), shared));
                })+
                Err(serde::de::Error::unknown_variant(name, Self::NAMES))
            }

            fn write<M: serde::ser::SerializeMap>(&self, to: &mut M) -> Result<(), M::Error> {
                to.serialize_entry("law", self.key())?;
                match self {
                    $($Laws::$arm(own) => $crate::law::keys::Table::write(own, to),)+
                }
            }

            fn schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> Vec<(&'static [&'static str], schemars::Schema)> {
                vec![$((
                    &[$($new,)? $name] as &[&str],
                    <$config as schemars::JsonSchema>::json_schema(generator),
                ),)+]
            }
        }

        impl<'de> serde::Deserialize<'de> for $Laws {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$Laws, D::Error> {
                $crate::law::registry::law::<$Laws, (), D>(from).map(|(law, ())| law)
            }
        }

        impl serde::Serialize for $Laws {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = to.serialize_map(None)?;
                $crate::law::registry::Laws::write(self, &mut map)?;
                map.end()
            }
        }

        impl schemars::JsonSchema for $Laws {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let laws = <$Laws as $crate::law::registry::Laws>::schemas(generator);
                $crate::law::registry::choice(laws, &[], $text)
            }
        }
    };
}

/// The laws of one kind, each with its settings.
pub trait Laws: Sized {
    /// What can be written in place of one.
    const EXPECTING: &'static str;
    /// Their names.
    const NAMES: &'static [&'static str];

    /// Reads the settings of the law of this name, and the keys that it shares with the others.
    ///
    /// # Errors
    /// There is no such law, or a key or a value does not fit.
    fn read<'de, Shared: Table, A: MapAccess<'de>>(
        name: &str,
        rest: A,
    ) -> Result<(Self, Shared), A::Error>;

    /// Writes its name and its settings.
    ///
    /// # Errors
    /// Those of what is written to.
    fn write<M: SerializeMap>(&self, to: &mut M) -> Result<(), M::Error>;

    /// Names (the current one first) and settings of every law.
    fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static [&'static str], Schema)>;
}

/// Reads `{ law = name, settings }`, and keys that all laws share. The name comes first, wherever it
/// stands in the document.
///
/// # Errors
/// There is no name or no such law, or a key or a value does not fit.
pub fn law<'de, L: Laws, Shared: Table, D: Deserializer<'de>>(
    from: D,
) -> Result<(L, Shared), D::Error> {
    struct Named<L, Shared>(PhantomData<(L, Shared)>);
    impl<'de, L: Laws, Shared: Table> de::Visitor<'de> for Named<L, Shared> {
        type Value = (L, Shared);

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(L::EXPECTING)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(L, Shared), A::Error> {
            match map.next_key::<String>()?.as_deref() {
                Some("law") => {
                    let name = map.next_value_seed(OneOf { words: L::NAMES, key: false })?;
                    L::read(name, map)
                }
                _ => Err(de::Error::missing_field("law")),
            }
        }
    }
    from.deserialize_struct("", &[], Named(PhantomData))
}

crate::keys! {
    /// No settings.
    #[derive(Default)]
    "Nothing" as pub Nothing:
}

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
