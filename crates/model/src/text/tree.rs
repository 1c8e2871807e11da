//! The document as a tree in which every value has its location.
//!
//! Settings (`--set KEY=VALUE`) are applied here, before any check. They keep their own location:
//! an error in a setting shows the setting, not the document.

use std::slice;

use toml::de::{DeTable, DeValue};

use super::report::{Place, Problem, Text};
use super::setting;
use super::source::{Parts, Setting, Source};

/// Largest document, in bytes: it bounds the memory that loading can take.
pub(crate) const MAX_DOCUMENT: usize = 8 << 20;

/// Deepest nesting: far beyond any scenario, far below what would overflow the stack.
const MAX_DEPTH: usize = 64;

/// A value and its location.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub place: Place,
    pub value: Value,
}

/// The types of TOML.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date: no key accepts one, but messages name it.
    Date(String),
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// Its kind, with an article.
    fn kind(&self) -> &'static str {
        match self {
            Value::String(_) => "a text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Date(_) => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Keys and values, in the order of the document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// One key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub place: Place,
    pub value: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }
}

impl Node {
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The documents that the tables of these names stand for; without one, the whole. A key of a
    /// table replaces the one beside it; of a key in `joined` the lists of both hold.
    pub fn parts(
        &self,
        names: &[&'static str],
        own: &str,
        joined: &[&str],
    ) -> Result<Parts<Node>, Problem> {
        let whole = self.table().cloned().unwrap_or_default();
        let mut beside = whole.clone();
        beside.entries.retain(|entry| !names.contains(&entry.key.as_str()));
        if beside.entries.len() == whole.entries.len() {
            return Ok(vec![(None, self.clone())]);
        }
        let tables = names.iter().map(|name| format!("[{name}]")).collect::<Vec<_>>().join(" and ");
        let refuse = |what: String, help: String, at: &Entry| {
            Err(Problem { what, help, place: Some(at.place.clone()) })
        };
        if let Some(entry) = beside.get(own) {
            let what = format!("`{own}`: this stands beside {tables}, which each have their own");
            return refuse(what, format!("write it into {tables}"), entry);
        }
        let mut parts = Vec::new();
        for name in names {
            let Some(part) = whole.get(name) else { continue };
            let Some(table) = part.value.table() else {
                return refuse(format!("`{name}`: not a table"), format!("write [{name}]"), part);
            };
            let mut entries = table.entries.clone();
            for entry in entries.iter_mut().filter(|entry| joined.contains(&entry.key.as_str())) {
                if let Some(above) = beside.get(&entry.key) {
                    entry.value.join(above, &entry.key, name)?;
                }
            }
            let left = |entry: &&Entry| table.get(&entry.key).is_none();
            entries.extend(beside.entries.iter().filter(left).cloned());
            let place = part.value.place.clone();
            parts.push((Some(*name), Node { place, value: Value::Table(Table { entries }) }));
        }
        Ok(parts)
    }

    /// Adds what the value of the same key above the tables has: the keys of a table that are not
    /// here, the items of a list. What is not of the same kind cannot be added.
    fn join(&mut self, above: &Entry, path: &str, part: &str) -> Result<(), Problem> {
        match (&mut self.value, &above.value.value) {
            (Value::Array(items), Value::Array(more)) => items.extend(more.iter().cloned()),
            (Value::Table(table), Value::Table(more)) => {
                for entry in &more.entries {
                    match table.entries.iter_mut().find(|here| here.key == entry.key) {
                        Some(here) => {
                            here.value.join(entry, &format!("{path}.{}", entry.key), part)?;
                        }
                        None => table.entries.push(entry.clone()),
                    }
                }
            }
            (below, other) if below.kind() != other.kind() => {
                let (this, there) = (other.kind(), below.kind());
                let what = format!("`{path}`: {this} here, and {there} in [{part}]");
                let help = "write the same kind of value in both".to_owned();
                return Err(Problem { what, help, place: Some(above.value.place.clone()) });
            }
            // the one below holds
            _ => {}
        }
        Ok(())
    }

    /// Removes the innermost entry of a table on the path to a value; returns whether there is one.
    pub fn leave_out(&mut self, path: &[String]) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let parent = parents.iter().try_fold(&mut *self, |node, key| match &mut node.value {
            Value::Table(table) => {
                table.entries.iter_mut().find(|e| e.key == *key).map(|e| &mut e.value)
            }
            Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
            _ => None,
        });
        let found = parent.and_then(|node| node.table_mut()?.remove(last));
        found.is_some() || self.leave_out(parents)
    }

    /// The value at a path of keys and indices.
    pub fn at(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| match &node.value {
            Value::Table(table) => table.get(key).map(|entry| &entry.value),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The location of the value at `path`, or of the innermost existing table around it.
    pub fn place(&self, path: &[String]) -> Place {
        let found = (0..=path.len()).rev().find_map(|length| self.at(&path[..length]));
        found.map_or(Place::START, |node| node.place.clone())
    }
}

/// A parsed document with its settings, and the texts that locations refer to.
#[derive(Debug)]
pub(crate) struct Tree {
    pub root: Node,
    pub texts: Vec<Text>,
}

/// Parses a document and applies settings in order.
pub(crate) fn parse(source: Source<'_>, settings: &[Setting<'_>]) -> Result<Tree, crate::Report> {
    let mut texts =
        vec![Text { name: source.name.to_owned(), text: source.text.to_owned(), first: 1 }];
    if source.text.len() > MAX_DOCUMENT {
        let problem = Problem {
            what: format!("{} is larger than {} MiB", source.name, MAX_DOCUMENT >> 20),
            help: "a scenario is a few kilobytes; put sizes into a file of their own".to_owned(),
            place: None,
        };
        return Err(crate::Report::new(vec![problem], &texts));
    }
    let root = match toml_text(source.text, 0) {
        Ok(root) => root,
        Err(problems) => return Err(crate::Report::new(problems, &texts)),
    };
    let mut tree = Tree { root, texts: Vec::new() };
    for (at, setting) in settings.iter().enumerate() {
        texts.push(Text {
            name: "--set".to_owned(),
            text: format!("{}={}", setting.key, setting.value),
            first: 1,
        });
        if let Err(problem) = setting::apply(&mut tree.root, setting, at + 1) {
            return Err(crate::Report::new(vec![problem], &texts));
        }
    }
    tree.texts = texts;
    Ok(tree)
}

/// Parses TOML; locations refer to text number `text`.
pub(crate) fn toml_text(source: &str, text: usize) -> Result<Node, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(source);
    if !errors.is_empty() {
        // later errors are mostly consequences of the first, and what is left open makes each line
        // after it wrong
        let open = errors.first().is_some_and(|error| left_open(error.message()));
        let mut found: Vec<Problem> = Vec::new();
        for error in errors.iter().take(if open { 1 } else { 3 }) {
            let span = error.span().unwrap_or(0..0);
            let what = what(error.message(), source.get(span.clone()).unwrap_or_default());
            let place = Some(Place { text, span });
            if found.iter().all(|other| other.what != what || other.place != place) {
                found.push(Problem { what, help: advice(error.message()).to_owned(), place });
            }
        }
        return Err(found);
    }
    let span = table.span();
    let value = Value::Table(convert_table(table.into_inner(), text, 0).map_err(|p| vec![p])?);
    Ok(Node { place: Place { text, span }, value })
}

/// What the TOML parser says of a place; it takes the lack of a value for one without quotes.
fn what(message: &str, there: &str) -> String {
    if message.starts_with("string values must be quoted") && there.trim().is_empty() {
        return "there is no value".to_owned();
    }
    message.lines().next().unwrap_or("not TOML").to_owned()
}

/// Whether a table or a list was not closed where the parser met this.
fn left_open(message: &str) -> bool {
    ["inline table", "missing comma", "unclosed array"].iter().any(|each| message.contains(each))
}

/// How to correct an error of the TOML parser.
fn advice(message: &str) -> &'static str {
    if message.starts_with("duplicate") {
        return "a table and a key stand once in a document: put both together, or rename one";
    }
    if left_open(message) {
        return "close each `{` and `[` of the lines before, and part what is inside by commas";
    }
    "quote text and quantities, as in `rate = \"10Mbit\"`; tables are `[name]`"
}

fn convert_table(table: DeTable<'_>, text: usize, depth: usize) -> Result<Table, Problem> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let place = Place { text, span: key.span() };
        let value = convert(value, text, depth + 1)?;
        entries.push(Entry { key: key.into_inner().into_owned(), place, value });
    }
    Ok(Table { entries })
}

fn convert(value: toml::Spanned<DeValue<'_>>, text: usize, depth: usize) -> Result<Node, Problem> {
    let place = Place { text, span: value.span() };
    let refuse = |what: String, help: &str| {
        Err(Problem { what, help: help.to_owned(), place: Some(place.clone()) })
    };
    if depth > MAX_DEPTH {
        return refuse(format!("nested more than {MAX_DEPTH} deep"), "no key lies that deep");
    }
    let value = match value.into_inner() {
        DeValue::String(string) => Value::String(string.into_owned()),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => return refuse(format!("`{integer}` does not fit into 64 bits"), ""),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(float) if float.is_finite() => Value::Float(float),
            _ => {
                return refuse(format!("`{float}` is not a finite number"), "write a number");
            }
        },
        DeValue::Boolean(boolean) => Value::Boolean(boolean),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(array) => Value::Array(
            array
                .into_iter()
                .map(|item| convert(item, text, depth + 1))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Value::Table(convert_table(table, text, depth)?),
    };
    Ok(Node { place, value })
}

impl Tree {
    /// The settings of each `[variant.NAME]`.
    pub fn variants(&self) -> Vec<(String, crate::text::source::Assignments)> {
        let written = |leaves: Vec<(String, &Node)>| {
            leaves.into_iter().map(|(key, node)| (key, self.toml(node))).collect()
        };
        self.changes().into_iter().map(|(name, leaves)| (name, written(leaves))).collect()
    }

    /// Calls `look` with the document changed by each variant.
    pub fn varied(&self, look: impl Fn(Node) -> Result<(), Problem>) -> Result<(), Problem> {
        for (name, leaves) in self.changes() {
            let mut root = self.root.clone();
            for (number, (key, node)) in leaves.iter().enumerate() {
                let again = leaves.iter().take(number).any(|(before, _)| before == key);
                one_of_a_variant(&name, key, again, node)?;
                setting::put(&mut root, key, &node.place, (*node).clone())?;
            }
            look(root)?;
        }
        Ok(())
    }

    /// The changes of each `[variant.NAME]`: keys with their values.
    ///
    /// Tables from dotted keys or headers are entered, and so is the variant itself; any other
    /// value in braces is one change. A first key in quotes is a dotted one, as in `[sweep]`.
    fn changes(&self) -> Vec<(String, Vec<(String, &Node)>)> {
        let variants = self.root.table().and_then(|root| root.get("variant"));
        let Some(variants) = variants.and_then(|entry| entry.value.table()) else {
            return Vec::new();
        };
        let leaves = |entry| {
            let mut leaves = Vec::new();
            self.leaves(entry, &mut Vec::new(), &mut leaves);
            leaves
        };
        variants.entries.iter().map(|each| (each.key.clone(), leaves(&each.value))).collect()
    }

    fn leaves<'a>(
        &self,
        node: &'a Node,
        path: &mut Vec<String>,
        found: &mut Vec<(String, &'a Node)>,
    ) {
        match &node.value {
            Value::Table(table) if path.is_empty() || !self.written(node).starts_with('{') => {
                for entry in &table.entries {
                    path.push(entry.key.clone());
                    self.leaves(&entry.value, path, found);
                    path.pop();
                }
            }
            _ => {
                let [first, rest @ ..] = path.as_slice() else { return };
                let dotted = first.contains('.').then_some(first);
                let key = dotted.map_or_else(|| joined(path), |first| key_below(first, rest));
                found.push((key, node));
            }
        }
    }

    /// A value as it is written in its text.
    fn written(&self, node: &Node) -> &str {
        let text = self.texts.get(node.place.text);
        text.and_then(|text| text.text.get(node.place.span.clone())).unwrap_or_default()
    }

    /// Whether these are tables with headers, and not written in one value.
    fn has_headers(&self, items: &[Node]) -> bool {
        items.iter().all(|item| item.table().is_some() && !self.written(item).starts_with('{'))
    }

    /// A value as TOML.
    pub(super) fn toml(&self, node: &Node) -> String {
        let written = self.written(node);
        match &node.value {
            // a string in a setting may be without quotes
            Value::String(text) if !written.starts_with(['"', '\'']) => {
                toml::Value::String(text.clone()).to_string()
            }
            // `[[name]]` has the place of its first header
            Value::Array(items) if written.starts_with("[[") && self.has_headers(items) => {
                let items: Vec<_> = items.iter().map(|item| self.toml(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Table(table) if !written.starts_with('{') => {
                let pair = |entry: &Entry| {
                    format!("{} = {}", joined(slice::from_ref(&entry.key)), self.toml(&entry.value))
                };
                let pairs: Vec<_> = table.entries.iter().map(pair).collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            _ => written.to_owned(),
        }
    }
}

/// A variant sets each key once, and holds neither variants nor a sweep.
fn one_of_a_variant(name: &str, key: &str, again: bool, node: &Node) -> Result<(), Problem> {
    let refused = |what: String, help: &str| {
        Err(Problem { what, help: help.to_owned(), place: Some(node.place.clone()) })
    };
    if again {
        return refused(format!("`{key}` is set twice in the variant {name}"), "leave one out");
    }
    match key.split('.').next() {
        Some(part @ ("variant" | "sweep")) => refused(
            format!("`{key}`: a variant holds no {part}"),
            "write it beside the variants, as a table of its own",
        ),
        _ => Ok(()),
    }
}

/// A dotted key, and keys below it.
fn key_below(dotted: &str, rest: &[String]) -> String {
    let rest = joined(rest);
    if rest.is_empty() { dotted.to_owned() } else { format!("{dotted}.{rest}") }
}

/// A path as written in a document: names that contain a dot are quoted.
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
