//! The keys of a table of a document, each declared once.
//!
//! [`keys!`](crate::keys) makes the type of a table from one line for each key: it is read, with
//! its bounds, shown and documented from that line.

use std::fmt;
use std::marker::PhantomData;

use schemars::Schema;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Unexpected};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::settings::{Bounds, Outside, Value};

/// A table of a document: keys with their values. [`keys!`](crate::keys) makes one of its
/// declaration. Two tables together are one, whose keys may be those of either.
pub trait Table: Sized {
    /// What can be written in its place.
    const EXPECTING: &'static str = "a table";
    /// Its keys.
    const KEYS: &'static [&'static str];
    /// The values that were read so far.
    type Read: Default;

    /// Reads the value of `key`, if that is one of its keys.
    ///
    /// # Errors
    /// The value does not fit, or is out of range.
    fn read<'de, A: MapAccess<'de>>(
        read: &mut Self::Read,
        key: &str,
        map: &mut A,
    ) -> Result<bool, A::Error>;

    /// The table, with the defaults of what was not read.
    ///
    /// # Errors
    /// A key that is needed is missing.
    fn done<E: de::Error>(read: Self::Read) -> Result<Self, E>;

    /// Writes its keys and values.
    ///
    /// # Errors
    /// Those of what is written to.
    fn write<M: SerializeMap>(&self, to: &mut M) -> Result<(), M::Error>;
}

impl Table for () {
    const KEYS: &'static [&'static str] = &[];
    type Read = ();

    fn read<'de, A: MapAccess<'de>>((): &mut (), _: &str, _: &mut A) -> Result<bool, A::Error> {
        Ok(false)
    }

    fn done<E: de::Error>((): ()) -> Result<(), E> {
        Ok(())
    }

    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

/// Most keys of two tables together.
const MOST_KEYS: usize = 96;

/// The keys of two tables.
const fn together(one: &[&'static str], other: &[&'static str]) -> [&'static str; MOST_KEYS] {
    let mut keys = [""; MOST_KEYS];
    let mut at = 0;
    while at < one.len() + other.len() {
        keys[at] = if at < one.len() { one[at] } else { other[at - one.len()] };
        at += 1;
    }
    keys
}

impl<One: Table, Other: Table> Table for (One, Other) {
    const KEYS: &'static [&'static str] = {
        let keys: &'static [&'static str; MOST_KEYS] = &const { together(One::KEYS, Other::KEYS) };
        keys.split_at(One::KEYS.len() + Other::KEYS.len()).0
    };
    type Read = (One::Read, Other::Read);

    fn read<'de, A: MapAccess<'de>>(
        (one, other): &mut Self::Read,
        key: &str,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        Ok(Other::read(other, key, map)? || One::read(one, key, map)?)
    }

    fn done<E: de::Error>((one, other): Self::Read) -> Result<Self, E> {
        Ok((One::done(one)?, Other::done(other)?))
    }

    fn write<M: SerializeMap>(&self, to: &mut M) -> Result<(), M::Error> {
        self.0.write(to)?;
        self.1.write(to)
    }
}

/// A word that is one of these: the key of a table, or else a name.
pub(super) struct OneOf {
    pub(super) words: &'static [&'static str],
    pub(super) key: bool,
}

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        if self.key { from.deserialize_identifier(self) } else { from.deserialize_str(self) }
    }
}

impl de::Visitor<'_> for OneOf {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.key { "a key" } else { "a name in quotes" })
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<&'static str, E> {
        let found = self.words.iter().find(|known| **known == word);
        found.copied().ok_or_else(|| match self.key {
            true => E::unknown_field(word, self.words),
            false => E::unknown_variant(word, self.words),
        })
    }
}

/// Reads what is left of a table.
///
/// # Errors
/// A key is unknown or missing, or its value does not fit.
pub fn rest<'de, T: Table, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let mut read = T::Read::default();
    while let Some(key) = map.next_key_seed(OneOf { words: T::KEYS, key: true })? {
        T::read(&mut read, key, &mut map)?;
    }
    T::done(read)
}

/// Reads a table.
///
/// # Errors
/// As [`rest`], and where it is no table.
pub fn table<'de, T: Table, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    struct Whole<T>(PhantomData<T>);
    impl<'de, T: Table> de::Visitor<'de> for Whole<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTING)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            rest(map)
        }
    }
    from.deserialize_struct("", T::KEYS, Whole(PhantomData))
}

/// Writes a table.
///
/// # Errors
/// Those of what is written to.
pub fn written<T: Table, S: Serializer>(table: &T, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    table.write(&mut map)?;
    map.end()
}

/// Reads a value that has bounds.
///
/// # Errors
/// It does not fit, or is out of range.
pub fn bounded<'de, T: Value + Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    bounds: Bounds,
) -> Result<T, A::Error> {
    struct Within<T>(Bounds, PhantomData<T>);
    impl<'de, T: Value + Deserialize<'de>> DeserializeSeed<'de> for Within<T> {
        type Value = T;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
            let value = T::deserialize(from)?;
            match value.within(self.0) {
                Ok(()) => Ok(value),
                Err(Outside { shown, wanted }) => {
                    Err(de::Error::invalid_value(Unexpected::Other(&shown), &wanted.as_str()))
                }
            }
        }
    }
    map.next_value_seed(Within(bounds, PhantomData))
}

/// Says in the schema of a table whether a key is needed, and what its default is.
pub fn describe<T: Serialize>(table: &mut Schema, key: &str, needed: bool, default: Option<T>) {
    let Some(table) = table.as_object_mut() else { return };
    let required = table.entry("required").or_insert_with(|| Vec::<String>::new().into());
    if let Some(required) = required.as_array_mut() {
        required.retain(|known| known != key);
        required.extend(needed.then(|| key.into()));
        if required.is_empty() {
            table.remove("required");
        }
    }
    let property = table.get_mut("properties").and_then(|keys| keys.get_mut(key)?.as_object_mut());
    if let (Some(property), Some(default)) = (property, default)
        && let Ok(default) = serde_json::to_value(default)
    {
        property.insert("default".to_owned(), default);
    }
}

/// Declares the keys of a table of a document, each once: the type is read, checked, shown and
/// documented from the declaration.
///
/// ```text
/// keys! {
///     /// What the table is about.
///     "NameInTheSchema" as pub Name = "what can be written in its place":
///     key: type = default quiet [low to high] "What it is" ("source") + "What else is to be said";
/// }
/// ```
///
/// The default is a literal, of times and sizes in quotes; or any expression in braces, and then
/// the words say it; or `none`, of an `Option`; or `required`: the key has to be written. `quiet`:
/// the default is not shown; `hidden`: nor is any other value. `[above low to high]` leaves out the
/// lower bound itself; `[from low]` and `[above low]` have no upper one. A key that was renamed has its old name, `as` and its new one. `, check` after
/// the table's words makes a method `check` of the ranges, `, check_at` one that takes a link. With
/// `pub struct Name` in place of `"NameInTheSchema" as pub Name` a table has no schema.
#[macro_export]
macro_rules! keys {
    (
        $(#[$about:meta])* $name:literal as $vis:vis $Table:ident $(= $expecting:literal)?
        $(, $check:ident)?: $($keys:tt)*
    ) => {
        $crate::keys! {
            $(#[$about])*
            #[derive(schemars::JsonSchema)]
            #[schemars(rename = $name)]
            #[schemars(deny_unknown_fields, transform = Self::describe)]
            $vis struct $Table $(= $expecting)? $(, $check)?: $($keys)*
        }
        $crate::keys! { @schema $Table: $($keys)* }
    };
    (
        @schema $Table:ident:
        $($(#[$attribute:meta])* $key:ident $(as $new:literal)?: $Type:ty = $default:tt
            $($quiet:ident)? $([$($range:tt)+])?
            $what:literal $(($source:literal))? $(+ $more:literal)?;)*
    ) => {
        impl $Table {
            #[allow(unused_variables, reason = "a table may have no keys")]
            fn describe(schema: &mut schemars::Schema) {
                $($crate::keys!(@describe schema, [$($new)?] $key, $Type, $default, $($quiet)?);)*
            }
        }
    };
    (
        $(#[$about:meta])* $vis:vis struct $Table:ident $(= $expecting:literal)?
        $(, $check:ident)?:
        $($(#[$attribute:meta])* $key:ident $(as $new:literal)?: $Type:ty = $default:tt
            $($quiet:ident)? $([$($range:tt)+])?
            $what:literal $(($source:literal))? $(+ $more:literal)?;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Table {
            $(
                $(#[$attribute])*
                #[doc = $crate::keys!(@doc $what, $default, [$($($range)+)?], [$($source)?], [$($more)?])]
                pub $key: $Type,
            )*
        }

        #[allow(non_snake_case, unused_variables, reason = "keys have the symbols of their papers, and a table may have none")]
        const _: () = {
            #[doc(hidden)]
            #[derive(Default)]
            pub struct Read { $($key: Option<$Type>,)* }

            impl $crate::law::keys::Table for $Table {
                $(const EXPECTING: &'static str = $expecting;)?
                const KEYS: &'static [&'static str] = &[$(stringify!($key), $($new,)?)*];
                type Read = Read;

                fn read<'de, A: serde::de::MapAccess<'de>>(
                    read: &mut Read,
                    key: &str,
                    map: &mut A,
                ) -> Result<bool, A::Error> {
                    $(if key == stringify!($key) $(|| key == $new)? {
                        read.$key = Some($crate::keys!(@value map, $($($range)+)?));
                        return Ok(true);
                    })*
                    Ok(false)
                }

                fn done<E: serde::de::Error>(read: Read) -> Result<$Table, E> {
                    Ok($Table { $($key: match read.$key {
                        Some(value) => value,
                        None => $crate::keys!(@left E, $key, $Type, $default),
                    },)* })
                }

                fn write<M: serde::ser::SerializeMap>(&self, to: &mut M) -> Result<(), M::Error> {
                    $($crate::keys!(@write self, to, $key, $Type, $default, $($quiet)?);)*
                    Ok(())
                }
            }

            impl<'de> serde::Deserialize<'de> for $Table {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$Table, D::Error> {
                    $crate::law::keys::table(from)
                }
            }

            impl serde::Serialize for $Table {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    $crate::law::keys::written(self, to)
                }
            }
        };

        $crate::keys!(@check $Table, [$($check)?], $(($key, [$($($range)+)?]))*);
    };
    (@check $Table:ident, [], $($rest:tt)*) => {};
    (@check $Table:ident, [$check:ident], $(($key:ident, [$($range:tt)*]))*) => {
        impl $Table {
            $crate::keys!(@method $check);

            /// Whether every value is in the range of its setting.
            ///
            /// # Errors
            /// The field that is not, and what would be right.
            #[allow(dead_code, reason = "what is read is in range")]
            pub fn in_range(&self) -> Result<(), $crate::law::settings::Refused> {
                $($crate::keys!(@within self, $key, $($range)*);)*
                Ok(())
            }
        }
    };
    (@method in_range) => {};
    (@method check) => {
        /// Whether every value is in range.
        ///
        /// # Errors
        /// The field that is not, and what would be right.
        pub fn check(&self) -> Result<(), $crate::law::settings::Refused> {
            self.in_range()
        }
    };
    (@method check_at) => {
        /// Whether every value is in range, at any link.
        ///
        /// # Errors
        /// The field that is not, and what would be right.
        pub fn check(
            &self,
            _: $crate::law::settings::Link,
        ) -> Result<(), $crate::law::settings::Refused> {
            self.in_range()
        }
    };
    (@doc $what:literal, $default:literal, [$($range:tt)*], [$($source:literal)?], [$($more:literal)?]) => {
        concat!(
            $what, "; default ", $default, $crate::keys!(@range ", ", $($range)*), $(" (", $source, ")",)?
            "." $(, " ", $more)?
        )
    };
    (@doc $what:literal, $other:tt, [$($range:tt)*], [$($source:literal)?], [$($more:literal)?]) => {
        concat!(
            $what, $crate::keys!(@range "; ", $($range)*), $(" (", $source, ")",)? "." $(, " ", $more)?
        )
    };
    (@range $mark:literal,) => { "" };
    (@range $mark:literal, from $low:literal) => { concat!($mark, "from ", $low) };
    (@range $mark:literal, above $low:literal) => { concat!($mark, "above ", $low) };
    (@range $mark:literal, above $low:literal to $high:literal) => {
        concat!($mark, "above ", $low, ", up to ", $high)
    };
    (@range $mark:literal, $low:literal to $high:literal) => {
        concat!($mark, $low, " to ", $high)
    };
    (@bounds from $low:literal) => { $crate::keys!(@bounds false, $low, "") };
    (@bounds above $low:literal) => { $crate::keys!(@bounds true, $low, "") };
    (@bounds above $low:literal to $high:literal) => { $crate::keys!(@bounds true, $low, $high) };
    (@bounds $low:literal to $high:literal) => { $crate::keys!(@bounds false, $low, $high) };
    (@bounds $above:literal, $low:literal, $high:literal) => {
        $crate::law::settings::Bounds { above: $above, low: concat!($low), high: concat!($high) }
    };
    (@value $map:ident,) => { $map.next_value()? };
    (@value $map:ident, $($range:tt)+) => {
        $crate::law::keys::bounded($map, $crate::keys!(@bounds $($range)+))?
    };
    (@within $self:ident, $key:ident,) => {};
    (@within $self:ident, $key:ident, $($range:tt)+) => {
        let found = $crate::law::settings::Value::within(&$self.$key, $crate::keys!(@bounds $($range)+));
        found.map_err(|outside| outside.of(stringify!($key)))?
    };
    (@left $E:ident, $key:ident, $Type:ty, required) => {
        return Err($E::missing_field(stringify!($key)))
    };
    (@left $E:ident, $key:ident, $Type:ty, $default:tt) => { $crate::keys!(@default $Type, $default) };
    (@default $Type:ty, none) => { None };
    (@default $Type:ty, { $default:expr }) => { $default };
    (@default $Type:ty, $default:literal) => {
        <$Type as $crate::law::settings::Value>::of(concat!($default)).expect("a default is written as its type is")
    };
    (@write $self:ident, $to:ident, $key:ident, $Type:ty, none,) => {
        if let Some(value) = &$self.$key {
            $to.serialize_entry(stringify!($key), value)?;
        }
    };
    (@write $self:ident, $to:ident, $key:ident, $Type:ty, $default:tt,) => {
        $to.serialize_entry(stringify!($key), &$self.$key)?;
    };
    (@write $self:ident, $to:ident, $key:ident, $Type:ty, $default:tt, quiet) => {
        let default: $Type = $crate::keys!(@default $Type, $default);
        if $self.$key != default {
            $to.serialize_entry(stringify!($key), &$self.$key)?;
        }
    };
    (@write $self:ident, $to:ident, $key:ident, $Type:ty, $default:tt, hidden) => {};
    (@describe $schema:ident, [$new:literal] $key:ident, $Type:ty, $default:tt, $($quiet:ident)?) => {
        $crate::keys!(@describe $schema, $new, $Type, $default, $($quiet)?)
    };
    (@describe $schema:ident, [] $key:ident, $Type:ty, $default:tt, $($quiet:ident)?) => {
        $crate::keys!(@describe $schema, stringify!($key), $Type, $default, $($quiet)?)
    };
    (@describe $schema:ident, $key:expr, $Type:ty, required,) => {
        $crate::law::keys::describe($schema, $key, true, None::<()>)
    };
    (@describe $schema:ident, $key:expr, $Type:ty, none,) => {
        $crate::law::keys::describe($schema, $key, false, None::<()>)
    };
    (@describe $schema:ident, $key:expr, $Type:ty, $default:tt, $quiet:ident) => {
        $crate::law::keys::describe($schema, $key, false, None::<()>)
    };
    (@describe $schema:ident, $key:expr, $Type:ty, $default:tt,) => {{
        let default: $Type = $crate::keys!(@default $Type, $default);
        $crate::law::keys::describe($schema, $key, false, Some(default))
    }};
}

/// Declares the keys of a table that can be left out altogether, as the settings of a law can: as
/// [`keys!`], with a default for each. Without a name the table is `Config`, and public.
#[macro_export]
macro_rules! settings {
    ($(#[$about:meta])* $name:literal $(, $check:ident)?: $($keys:tt)*) => {
        $crate::settings! { $(#[$about])* $name as pub Config $(, $check)?: $($keys)* }
    };
    (
        $(#[$about:meta])* $name:literal as $vis:vis $Table:ident $(= $expecting:literal)?
        : $($keys:tt)*
    ) => {
        $crate::settings! { $(#[$about])* $name as $vis $Table $(= $expecting)?, in_range: $($keys)* }
    };
    (
        $(#[$about:meta])* $name:literal as $vis:vis $Table:ident $(= $expecting:literal)?
        , $check:ident: $($keys:tt)*
    ) => {
        $crate::keys! {
            $(#[$about])* $name as $vis $Table $(= $expecting)?, $check: $($keys)*
        }

        $crate::settings! { @default $Table }
    };
    ($(#[$about:meta])* $vis:vis struct $Table:ident $(= $expecting:literal)?: $($keys:tt)*) => {
        $crate::keys! { $(#[$about])* $vis struct $Table $(= $expecting)?, in_range: $($keys)* }
        $crate::settings! { @default $Table }
    };
    (@default $Table:ident) => {
        impl Default for $Table {
            fn default() -> $Table {
                let nothing = $crate::law::keys::Table::done::<serde::de::value::Error>;
                nothing(Default::default()).expect("every setting has a default")
            }
        }
    };
}
