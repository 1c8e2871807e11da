//! Decodes the tree into typed values: a serde deserializer that knows locations.
//!
//! An error gets the location of the innermost value (or key) that caused it.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Error as _, Unexpected, Visitor};

use super::meaning::meaning;
use super::report::{Place, Problem};
use super::tree::{Entry, Node, Table, Value, joined};

/// Why a tree does not match a type; boxed, so that results stay small.
#[derive(Clone, Debug)]
pub(crate) struct Refused(Box<Misfit>);

#[derive(Clone, Debug, Default)]
struct Misfit {
    what: String,
    help: String,
    place: Option<Place>,
    /// Keys from the root to the value, innermost last.
    path: Vec<String>,
    /// The unknown key, if that is the problem.
    unknown: Option<Unknown>,
    /// Whether the value alone is wrong: without it, the rest can be read.
    out_of_range: bool,
    /// Whether a key is missing.
    missing: bool,
}

/// A key that is not allowed at its place.
#[derive(Clone, Debug)]
struct Unknown {
    key: String,
    /// The keys that are allowed here.
    known: Vec<String>,
    /// The law, if a setting replaced only its name and the other settings belong to another law.
    law: Option<String>,
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)
    }
}

impl Refused {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Refused {
        Refused(Box::new(Misfit { what: what.into(), help: help.into(), ..Misfit::default() }))
    }

    /// Sets the location unless an inner one is known.
    #[cold]
    #[inline(never)]
    fn or_at(mut self, place: &Place) -> Refused {
        self.0.place.get_or_insert_with(|| place.clone());
        self
    }

    /// Prepends a key to the path.
    #[cold]
    #[inline(never)]
    fn under(mut self, key: &str) -> Refused {
        self.0.path.insert(0, key.to_owned());
        self
    }

    #[cold]
    #[inline(never)]
    fn under_item(self, at: usize) -> Refused {
        self.under(&at.to_string())
    }

    /// Converts it into a problem.
    pub fn problem(self) -> Problem {
        let Misfit { what, help, place, path, unknown, .. } = *self.0;
        let within = match path.as_slice() {
            [] => String::new(),
            path => format!("`{}`", joined(path)),
        };
        // a shell takes away the quotes around the value of a setting, as Python does
        let set = place.as_ref().is_some_and(|place| place.text > 0);
        let quoted = "write a text with quotes in quotes, as in '\"text\"'";
        let help = if set && help == "write a text in quotes" { quoted.into() } else { help };
        let (what, help) = match unknown {
            Some(Unknown { key, known, law }) => {
                let inside = if within.is_empty() { within } else { format!(" in {within}") };
                let mut help = spelling(&key, &known, "keys");
                if let Some(law) = law {
                    let whole = format!("{}={{ law = {law:?} }}", joined(&path));
                    help = format!("a law and its settings go together: set `{whole}` ({help})");
                }
                if let ("reverse", [first, port]) = (key.as_str(), path.as_slice())
                    && first == "port"
                {
                    let name = format!("[port.\"{port}.reverse\"]");
                    help = format!("the other direction is a port of its own: {name}; {help}");
                }
                (format!("unknown key `{key}`{inside}"), help)
            }
            None if within.is_empty() => (what, help),
            None => {
                let note = meaning(&path).map(|said| format!("\n{within}: {said}"));
                (format!("{within}: {what}"), help + &note.unwrap_or_default())
            }
        };
        Problem { what, help, place }
    }
}

/// Lists the known names, and suggests the one that was probably meant.
pub(crate) fn spelling<S: AsRef<str>>(wrong: &str, known: &[S], kind: &str) -> String {
    const SHOWN: usize = 24;
    let mut names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    // a law and what it shares with others may both have a key
    let mut told = BTreeSet::new();
    names.retain(|name| told.insert(*name));
    let more = names.len().saturating_sub(SHOWN);
    // what was cut short goes before what was misspelt: `min` means `min_th`, and not `ecn`
    let begun = wrong.chars().count() >= 3;
    let longer =
        names.iter().find(|name| begun && distance(wrong, name) > 1 && name.starts_with(wrong));
    let nearest = longer.map(|name| (0, *name)).or_else(|| {
        let distances = names.iter().map(|name| (distance(wrong, name), *name));
        distances.min().filter(|&(distance, name)| within(distance, name))
    });
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

/// Whether a name was probably a misspelling of another.
pub(crate) fn near(wrong: &str, name: &str) -> bool {
    within(distance(wrong, name), name)
}

fn within(distance: usize, name: &str) -> bool {
    distance <= 1 + name.chars().count() / 3
}

/// Number of single-character edits between two names, ignoring case. Long names are only compared
/// for equality, which bounds the time.
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
        let whole = matches!(expected.to_string().as_str(), "u16" | "u32" | "u64");
        let bound = match found {
            Unexpected::Signed(number) if whole && number < 0 => {
                "a whole number that is not negative"
            }
            Unexpected::Signed(_) | Unexpected::Unsigned(_) if whole => "a smaller whole number",
            _ => &wanted(expected),
        };
        let (what, help) = (format!("{} is out of range", named(&found)), format!("write {bound}"));
        Refused(Box::new(Misfit { what, help, out_of_range: true, ..Misfit::default() }))
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
        Refused(Box::new(Misfit { unknown: Some(unknown), ..Misfit::default() }))
    }

    fn missing_field(field: &'static str) -> Refused {
        let what = format!("the key `{field}` is missing");
        let help = match field {
            "topology" => "add a table, as in `[topology.dumbbell]`".to_owned(),
            _ => format!("add `{field} = ...`"),
        };
        Refused(Box::new(Misfit { what, help, missing: true, ..Misfit::default() }))
    }
}

/// The value that was found, in the terms of the document.
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

/// The values that are allowed, in the terms of the document.
fn wanted(expected: &dyn de::Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        // how far it may go is said by the description of its key
        "u16" | "u32" | "u64" => "a whole number, without quotes".to_owned(),
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

    /// Reads a typed value out of the tree, without what is out of range, and says what that is;
    /// up to `most` problems.
    pub fn decode_all<T: de::DeserializeOwned>(mut self, most: usize) -> (Option<T>, Vec<Problem>) {
        let mut problems = Vec::new();
        loop {
            let refused = match T::deserialize(&self) {
                Ok(value) => return (Some(value), problems),
                Err(refused) => refused,
            };
            // what was left out is not missing
            if refused.0.missing && !problems.is_empty() {
                return (None, problems);
            }
            let rest = refused.0.out_of_range && self.leave_out(&refused.0.path);
            problems.push(refused.problem());
            if !rest || problems.len() >= most {
                return (None, problems);
            }
        }
    }
}

// The generic functions below are compiled once per type of the document, so they only delegate to
// functions that are compiled once.

impl Node {
    /// The type does not accept this value.
    #[cold]
    fn misfit(&self, expected: &dyn de::Expected) -> Refused {
        let date;
        let found = match &self.value {
            Value::String(text) => Unexpected::Str(text),
            Value::Integer(integer) => Unexpected::Signed(*integer),
            Value::Float(float) => Unexpected::Float(*float),
            Value::Boolean(boolean) => Unexpected::Bool(*boolean),
            Value::Date(written) => {
                date = format!("the date {written}");
                Unexpected::Other(&date)
            }
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        Refused::invalid_type(found, expected).or_at(&self.place)
    }

    /// A name, or a table of one name with its content.
    #[inline(never)]
    fn choice(&self, names: &[&str]) -> Result<Choice<'_>, Refused> {
        let (what, help) = match &self.value {
            Value::String(name) => {
                return Ok(Choice { name, place: &self.place, content: None });
            }
            Value::Table(table) => match table.entries.as_slice() {
                [Entry { key, place, value }] => {
                    return Ok(Choice { name: key, place, content: Some(value) });
                }
                [_, second, ..] => return Err(table.second_choice(second, names)),
                [] => ("an empty table", "give"),
            },
            _ => ("neither a name nor a table", "write"),
        };
        Err(Refused::new(what, format!("{help} one of {}", names.join(", "))).or_at(&self.place))
    }
}

impl Table {
    /// Two alternatives were given where one is allowed.
    #[cold]
    fn second_choice(&self, second: &Entry, names: &[&str]) -> Refused {
        let first = self.entries.first().map_or("", |entry| entry.key.as_str());
        if names.contains(&first) && !names.contains(&second.key.as_str()) {
            let what = format!("`{}` cannot stand beside `{first}`", second.key);
            let help = format!("settings go inside: {{ {first} = {{ {} = ... }} }}", second.key);
            return Refused::new(what, help).or_at(&second.place);
        }
        Refused::new(
            format!("`{first}` and `{}` cannot both be given", second.key),
            "leave one of them out",
        )
        .or_at(&second.place)
    }

    /// An error from within the table of a node at `place`.
    #[cold]
    #[inline(never)]
    fn blame(&self, mut error: Refused, place: &Place) -> Refused {
        // a setting gave the name of a law, and the document an earlier key
        if let Some(unknown) = &mut error.0.unknown
            && error.0.path.is_empty()
            && let Some(law) = self.get("law")
            && let Value::String(name) = &law.value.value
            && error.0.place.as_ref().is_some_and(|place| place.text < law.value.place.text)
        {
            unknown.law = Some(name.clone());
        }
        error.or_at(place)
    }

    fn visit<'de, V: Visitor<'de>>(
        &'de self,
        place: &Place,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        // the name of a law says what the other keys are
        let (law, others) = self.entries.iter().partition::<Vec<_>, _>(|entry| entry.key == "law");
        let entries = law.into_iter().chain(others).collect::<Vec<_>>().into_iter();
        let mut entries = Entries { entries, value: None };
        let value = visitor.visit_map(&mut entries).map_err(|error| self.blame(error, place))?;
        // a choice (`{ pareto = ... }`) reads only its first key
        match entries.entries.next() {
            None => Ok(value),
            Some(second) => Err(self.second_choice(second, &[])),
        }
    }
}

/// Reads a value of one type only.
macro_rules! only {
    ($($method:ident: $kind:ident($value:ident) => $visit:expr;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            let visit: fn(V, _) -> Result<V::Value, Refused> = $visit;
            match &self.value {
                Value::$kind($value) => visit(visitor, $value).map_err(|error| error.or_at(&self.place)),
                _ => Err(self.misfit(&visitor)),
            }
        })+
    };
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let value = match &self.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(integer) => visitor.visit_i64(*integer),
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Boolean(boolean) => visitor.visit_bool(*boolean),
            Value::Date(_) => return Err(self.misfit(&visitor)),
            Value::Array(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Table(table) => return table.visit(&self.place, visitor),
        };
        value.map_err(|error| error.or_at(&self.place))
    }

    only! {
        deserialize_bool: Boolean(boolean) => |visitor, boolean: &bool| visitor.visit_bool(*boolean);
        deserialize_u8: Integer(integer) => |visitor, integer: &i64| visitor.visit_i64(*integer);
        deserialize_u16: Integer(integer) => |visitor, integer: &i64| visitor.visit_i64(*integer);
        deserialize_u32: Integer(integer) => |visitor, integer: &i64| visitor.visit_i64(*integer);
        deserialize_u64: Integer(integer) => |visitor, integer: &i64| visitor.visit_i64(*integer);
        deserialize_str: String(text) => |visitor, text: &'de String| visitor.visit_borrowed_str(text);
        deserialize_string: String(text) => |visitor, text: &'de String| visitor.visit_borrowed_str(text);
        deserialize_seq: Array(items) => |visitor, items: &'de Vec<Node>| {
            visitor.visit_seq(Items { items: items.iter().enumerate() })
        };
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match &self.value {
            Value::Integer(integer) => visitor.visit_i64(*integer),
            Value::Float(float) => visitor.visit_f64(*float),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match &self.value {
            Value::Table(table) => table.visit(&self.place, visitor),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_enum(self.choice(names)?).map_err(|error| error.or_at(&self.place))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 char bytes byte_buf newtype_struct
        unit unit_struct tuple tuple_struct identifier
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
        seed.deserialize(item).map(Some).map_err(|error| error.under_item(at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'de> {
    entries: std::vec::IntoIter<&'de Entry>,
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
        seed.deserialize(DocKey { key: &entry.key, place: &entry.place }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        let entry = self.value.take().ok_or_else(|| Refused::custom("a value without a key"))?;
        seed.deserialize(&entry.value)
            .map_err(|error| error.or_at(&entry.value.place).under(&entry.key))
    }
}

/// A key, or the name of a choice.
struct DocKey<'de> {
    key: &'de str,
    place: &'de Place,
}

impl<'de> de::Deserializer<'de> for DocKey<'de> {
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
}

impl<'de> de::EnumAccess<'de> for Choice<'de> {
    type Error = Refused;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Refused> {
        let name = seed.deserialize(DocKey { key: self.name, place: self.place })?;
        Ok((name, self))
    }
}

impl Choice<'_> {
    #[cold]
    #[inline(never)]
    fn blame(&self, mut error: Refused) -> Refused {
        if self.content.is_none() {
            error.0.place = Some(self.place.clone());
        }
        error.under(self.name)
    }
}

/// A bare name stands for the choice with all defaults.
static DEFAULTS: Node =
    Node { place: Place::START, value: Value::Table(Table { entries: Vec::new() }) };

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
        seed.deserialize(content).map_err(|error| self.blame(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Refused> {
        Err(Refused::invalid_type(Unexpected::TupleVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        Err(Refused::invalid_type(Unexpected::StructVariant, &visitor))
    }
}
