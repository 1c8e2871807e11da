//! From the tree to typed values: a serde deserializer that knows places.
//!
//! An error takes the place of the innermost value (or key) that it came from.

use std::fmt;

use serde::de::{self, DeserializeSeed, Error as _, Unexpected, Visitor};

use super::{Entry, Node, Table, Value};
use crate::meaning::meaning;
use crate::report::{Place, Problem};

/// Why a tree does not fit a type.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    what: String,
    help: String,
    place: Option<Place>,
    /// Keys from the root to the value, innermost last.
    path: Vec<String>,
    /// The key that is unknown, if one is.
    unknown: Option<Box<Unknown>>,
}

/// A key that does not belong where it stands.
#[derive(Clone, Debug)]
struct Unknown {
    key: String,
    /// Those that are known here.
    known: Vec<String>,
    /// The law that was set apart from the settings beside it, which are of another one.
    law: Option<String>,
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Refused {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Refused {
        Refused {
            what: what.into(),
            help: help.into(),
            place: None,
            path: Vec::new(),
            unknown: None,
        }
    }

    /// Takes this place unless an inner one is known.
    fn or_at(mut self, place: &Place) -> Refused {
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    /// Puts a key in front of the path, unless the document does not have it.
    fn under(mut self, key: &str, hidden: bool) -> Refused {
        if !hidden {
            self.path.insert(0, key.to_owned());
        }
        self
    }

    /// As a problem to report.
    pub fn problem(self) -> Problem {
        let within = match self.path.as_slice() {
            [] => String::new(),
            path => format!("`{}`", joined(path)),
        };
        let (what, help) = match self.unknown {
            Some(unknown) => {
                let Unknown { key, known, law } = *unknown;
                let inside = if within.is_empty() { within } else { format!(" in {within}") };
                let mut help = spelling(&key, &known, "keys");
                if let Some(law) = law {
                    let whole = format!("{}={{ law = {law:?} }}", joined(&self.path));
                    help = format!("a law and its settings go together: set `{whole}` ({help})");
                }
                (format!("unknown key `{key}`{inside}"), help)
            }
            None if within.is_empty() => (self.what, self.help),
            None => {
                let note = meaning(&self.path).map(|said| format!("\n{within}: {said}"));
                (format!("{within}: {}", self.what), self.help + &note.unwrap_or_default())
            }
        };
        Problem { what, help, place: self.place }
    }
}

/// A path as a document writes it: names that hold a dot are quoted.
pub(crate) fn joined(path: &[String]) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let written = path.iter().map(|key| {
        if !key.is_empty() && key.chars().all(bare) {
            return key.clone();
        }
        let pair = toml::Table::from_iter([(key.clone(), toml::Value::Boolean(true))]);
        pair.to_string().trim_end().trim_end_matches("= true").trim_end().to_owned()
    });
    written.collect::<Vec<_>>().join(".")
}

/// Which names there are, and which one was probably meant.
pub(crate) fn spelling<S: AsRef<str>>(wrong: &str, known: &[S], kind: &str) -> String {
    const SHOWN: usize = 24;
    let mut names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(SHOWN);
    let nearest = names
        .iter()
        .map(|name| (distance(wrong, name), *name))
        .min()
        .filter(|&(distance, name)| within(distance, name));
    names.truncate(SHOWN);
    let mut list = format!("{kind} here: {}", names.join(", "));
    if names.is_empty() {
        list = format!("there are no {kind} here");
    } else if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    match nearest {
        Some((_, name)) => format!("did you mean `{name}`? {list}"),
        None => list,
    }
}

/// Whether one name was probably meant for another.
pub(crate) fn near(wrong: &str, name: &str) -> bool {
    within(distance(wrong, name), name)
}

fn within(distance: usize, name: &str) -> bool {
    distance <= 1 + name.chars().count() / 3
}

/// Number of single-character edits between two names (case does not count);
/// long names are not compared but by equality, which bounds the time taken.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(65).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(65).collect();
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Refused {
        let message = message.to_string();
        let (what, help) = message.split_once('\n').unwrap_or((&message, ""));
        Refused::new(what, help)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Refused {
        Refused::new(
            format!("{} does not fit", named(&found)),
            format!("write {}", wanted(expected)),
        )
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Refused {
        Refused::new(
            format!("{} is out of range", named(&found)),
            format!("write {}", wanted(expected)),
        )
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Refused {
        Refused::new(
            format!("a list of {length} does not fit"),
            format!("write {}", wanted(expected)),
        )
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Refused {
        Refused::new(format!("unknown name `{variant}`"), spelling(variant, expected, "names"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Refused {
        let known = expected.iter().map(|&name| name.to_owned()).collect();
        let unknown = Unknown { key: field.to_owned(), known, law: None };
        Refused { unknown: Some(Box::new(unknown)), ..Refused::new("", "") }
    }

    fn missing_field(field: &'static str) -> Refused {
        Refused::new(format!("the key `{field}` is missing"), format!("add `{field} = ...`"))
    }
}

/// What was found, in the words of the document.
fn named(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("the number `{value}`"),
        Unexpected::Unsigned(value) => format!("the number `{value}`"),
        Unexpected::Float(value) => format!("the number `{value}`"),
        Unexpected::Str(value) => format!("the text {value:?}"),
        Unexpected::Map | Unexpected::StructVariant => "a table".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Unit | Unexpected::UnitVariant => "a name without a table".to_owned(),
        other => other.to_string(),
    }
}

/// What would have been right, in the words of the document.
fn wanted(expected: &dyn de::Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number that is not negative".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false, without quotes".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a map" => "a table, as in { name = ... } or [name]".to_owned(),
        "a sequence" => "a list, as in [ ... ]".to_owned(),
        _ => text,
    }
}

impl Node {
    /// Reads a typed value out of the tree.
    pub fn decode<'de, T: de::Deserialize<'de>>(&'de self) -> Result<T, Problem> {
        T::deserialize(self).map_err(Refused::problem)
    }
}

impl<'de> Node {
    fn any<V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, Refused> {
        let value = match &self.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(integer) => visitor.visit_i64(*integer),
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Boolean(boolean) => visitor.visit_bool(*boolean),
            Value::Date(date) => {
                Err(Refused::invalid_type(Unexpected::Other(&format!("the date {date}")), &visitor))
            }
            Value::Array(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Table(table) => self.entries(table, visitor),
        };
        value.map_err(|error| error.or_at(&self.place))
    }

    fn entries<V: Visitor<'de>>(
        &'de self,
        table: &'de Table,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let mut entries = Entries { entries: table.entries.iter(), value: None };
        let value = visitor.visit_map(&mut entries).map_err(|mut error| {
            if let Some(unknown) = &mut error.unknown
                && error.path.is_empty()
            {
                unknown.known.extend(table.also.iter().map(|&name| name.to_owned()));
            }
            error
        })?;
        // a choice (`{ pareto = ... }`) reads its first key only
        match entries.entries.next() {
            None => Ok(value),
            Some(second) => Err(second_choice(table, second)),
        }
    }
}

/// Two kinds of a thing that can be of one kind only.
fn second_choice(table: &Table, second: &Entry) -> Refused {
    let first = table.entries.first().map_or("", |entry| entry.key.as_str());
    Refused::new(
        format!("`{first}` and `{}` cannot both be given", second.key),
        "leave one of them out",
    )
    .or_at(&second.place)
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let choice = match &self.value {
            Value::String(name) => {
                Choice { name, place: &self.place, content: None, hidden: false }
            }
            Value::Table(table) => match table.entries.as_slice() {
                [entry] => Choice {
                    name: &entry.key,
                    place: &entry.place,
                    content: Some(&entry.value),
                    hidden: entry.hidden,
                },
                [_, second, ..] => return Err(second_choice(table, second)),
                [] => {
                    let help = format!("give one of {}", names.join(", "));
                    return Err(Refused::new("an empty table", help).or_at(&self.place));
                }
            },
            _ => {
                let help = format!("write one of {}", names.join(", "));
                return Err(Refused::new("neither a name nor a table", help).or_at(&self.place));
            }
        };
        visitor.visit_enum(choice).map_err(|error| error.or_at(&self.place))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'de> {
    items: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        let Some((at, item)) = self.items.next() else {
            return Ok(None);
        };
        seed.deserialize(item).map(Some).map_err(|error| error.under(&at.to_string(), false))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'de> {
    entries: std::slice::Iter<'de, Entry>,
    value: Option<&'de Entry>,
}

impl<'de> de::MapAccess<'de> for &mut Entries<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refused> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(entry);
        seed.deserialize(Key { key: &entry.key, place: &entry.place }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        let entry = self.value.take().ok_or_else(|| Refused::custom("a value without a key"))?;
        seed.deserialize(&entry.value).map_err(|error| error.under(&entry.key, entry.hidden))
    }
}

/// A key, or the name of a choice.
struct Key<'de> {
    key: &'de str,
    place: &'de Place,
}

impl<'de> de::Deserializer<'de> for Key<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_borrowed_str(self.key).map_err(|error: Refused| error.or_at(self.place))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option newtype_struct enum
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// `name` or `{ name = content }`.
struct Choice<'de> {
    name: &'de str,
    place: &'de Place,
    content: Option<&'de Node>,
    hidden: bool,
}

impl<'de> de::EnumAccess<'de> for Choice<'de> {
    type Error = Refused;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Refused> {
        let name = seed.deserialize(Key { key: self.name, place: self.place })?;
        Ok((name, self))
    }
}

/// What a bare name stands for: the choice with all its defaults.
static DEFAULTS: Node =
    Node { place: Place::START, value: Value::Table(Table { entries: Vec::new(), also: &[] }) };

impl<'de> de::VariantAccess<'de> for Choice<'de> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        match self.content {
            None => Ok(()),
            Some(content) => Err(Refused::new(
                format!("`{}` takes no settings", self.name),
                format!("write \"{}\" alone", self.name),
            )
            .or_at(&content.place)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        let content = self.content.unwrap_or(&DEFAULTS);
        seed.deserialize(content).map_err(|mut error| {
            if self.content.is_none() {
                error.place = Some(self.place.clone());
            }
            // a name that came by a setting, and a key that stood in the document before
            let older = error.place.as_ref().is_some_and(|place| place.text < self.place.text);
            if let Some(unknown) = &mut error.unknown
                && self.hidden
                && older
                && error.path.is_empty()
            {
                unknown.law = Some(self.name.to_owned());
            }
            error.under(self.name, self.hidden)
        })
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Refused> {
        Err(Refused::invalid_type(Unexpected::TupleVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let content = self.content.unwrap_or(&DEFAULTS);
        content.any(visitor).map_err(|mut error| {
            if self.content.is_none() {
                error.place = Some(self.place.clone());
            }
            error.under(self.name, self.hidden)
        })
    }
}
