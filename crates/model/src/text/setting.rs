//! Applies one `--set KEY=VALUE` to the tree.

use super::report::{Place, Problem};
use super::source::Setting;
use super::tree::{Entry, Node, Table, Value, toml_text};

/// Applies a setting, which is text number `text`.
///
/// The value is TOML. A value that is not TOML and does not look like it is taken as a string, so
/// that `--set traffic.web.size.mean=30kB` needs no quotes.
pub(super) fn apply(root: &mut Node, setting: &Setting<'_>, text: usize) -> Result<(), Problem> {
    let place = |from: usize, to: usize| Some(Place { text, span: from..to });
    let key_length = setting.key.len();
    let whole = key_length + 1 + setting.value.len();
    let refuse = |what: &str, help: &str, to: usize| {
        Err(Problem { what: what.to_owned(), help: help.to_owned(), place: place(0, to) })
    };
    if whole > super::tree::MAX_DOCUMENT {
        return refuse("the setting is too long", "", 0);
    }
    let (path, keys) = match key(setting.key, text) {
        Ok(found) => found,
        Err((what, help)) => return refuse(what, help, key_length),
    };
    let value = match toml_text(&format!("{}={}", setting.key, setting.value), text) {
        Ok(parsed) => match only_value(&parsed, &path).cloned() {
            Some(value) => value,
            None => return refuse("not a single value", "set one key at a time", whole),
        },
        Err(problems) => {
            let value = setting.value.trim();
            if value.is_empty() || value.starts_with(['"', '\'', '[', '{', '#']) {
                return Err(problems.into_iter().next().unwrap_or(Problem {
                    what: "not a value".to_owned(),
                    help: String::new(),
                    place: place(key_length + 1, whole),
                }));
            }
            Node {
                place: Place { text, span: key_length + 1..whole },
                value: Value::String(value.to_owned()),
            }
        }
    };
    if let Some(meant) = meant(root, &path) {
        let help = format!("did you mean `{meant}`? write a key with all that it stands in");
        return refuse(&format!("unknown key `{}`", path.join(".")), &help, key_length);
    }
    insert(root, &alias(root, path), &keys, value)
}

/// The key in the document that ends as this path, if the path begins nowhere: `bottleneck.rate`
/// for `topology.dumbbell.bottleneck.rate`.
fn meant(root: &Node, path: &[String]) -> Option<String> {
    let (first, entries) = (path.first()?, &root.table()?.entries);
    if path.len() < 2 || entries.iter().any(|entry| entry.key == *first) {
        return None;
    }
    let others = entries.iter().filter(|entry| !matches!(&*entry.key, "variant" | "sweep"));
    others.flat_map(|entry| below(&entry.value, &entry.key)).find_map(|(within, table)| {
        let end = path.get(..path.len() - 1)?.join(".");
        let fits = within.ends_with(&format!(".{end}")) && table;
        fits.then(|| format!("{within}.{}", path.last().map_or("", String::as_str)))
    })
}

/// All keys below a node, dotted, and whether each is a table.
fn below(node: &Node, within: &str) -> Vec<(String, bool)> {
    let Some(table) = node.table() else { return Vec::new() };
    let inner = table.entries.iter().flat_map(|entry| {
        let name = format!("{within}.{}", entry.key);
        let mut found = vec![(name.clone(), entry.value.table().is_some())];
        found.extend(below(&entry.value, &name));
        found
    });
    inner.collect()
}

/// Sets a value that already has a location at a dotted key written at `at`.
pub(super) fn put(root: &mut Node, written: &str, at: &Place, value: Node) -> Result<(), Problem> {
    let (path, _) = key(written, at.text).map_err(|(what, help)| Problem {
        what: format!("`{written}`: {what}"),
        help: help.to_owned(),
        place: Some(at.clone()),
    })?;
    insert(root, &alias(root, path), std::slice::from_ref(at), value)
}

/// What is wrong with a key, and how to correct it.
type Wrong = (&'static str, &'static str);

/// The parts of a dotted key, each with its location in text number `text`.
fn key(written: &str, text: usize) -> Result<(Vec<String>, Vec<Place>), Wrong> {
    // parse it with a dummy value: it must be one key and nothing else
    let Ok(skeleton) = toml_text(&format!("{written}=0"), text) else {
        return Err((
            "not a key that can be set",
            "write keys with dots, as in `traffic.web.size.mean=30kB`, and quote names that \
             contain a dot, as in `port.\"bottleneck.reverse\".gate.law=none`",
        ));
    };
    let path =
        only_path(&skeleton).ok_or(("not a single key", "set one key at a time, on one line"))?;
    Ok((path, key_places(&skeleton)))
}

/// The path to the only leaf of a tree, if there is just one.
fn only_path(skeleton: &Node) -> Option<Vec<String>> {
    let mut path = Vec::new();
    let mut node = skeleton;
    while let Value::Table(table) = &node.value {
        let [entry] = table.entries.as_slice() else {
            return None;
        };
        path.push(entry.key.clone());
        node = &entry.value;
    }
    Some(path)
}

/// The value at `path`, if the tree contains nothing else.
fn only_value<'a>(root: &'a Node, path: &[String]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, key| match node.table()?.entries.as_slice() {
        [entry] if entry.key == *key => Some(&entry.value),
        _ => None,
    })
}

fn key_places(skeleton: &Node) -> Vec<Place> {
    let mut places = Vec::new();
    let mut node = skeleton;
    while let Some(entry) = node.table().and_then(|table| table.entries.first()) {
        places.push(entry.place.clone());
        node = &entry.value;
    }
    places
}

/// `traffic.X.size.mean` is an alias for the mean of whatever distribution X has.
fn alias(root: &Node, mut path: Vec<String>) -> Vec<String> {
    let [traffic, _, size, mean] = path.as_slice() else {
        return path;
    };
    if traffic != "traffic" || size != "size" || mean != "mean" {
        return path;
    }
    if let Some([only]) = root.at(&path[..3]).and_then(Node::table).map(|t| t.entries.as_slice())
        && only.value.table().is_some()
    {
        path.insert(3, only.key.clone());
    }
    path
}

/// Replaces the value at `path`, creating tables on the path.
fn insert(root: &mut Node, path: &[String], keys: &[Place], value: Node) -> Result<(), Problem> {
    let whole = value.place.clone();
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        let place = keys.get(depth).or(keys.last()).unwrap_or(&whole).clone();
        let refuse = |what: String, help: &str| {
            Err(Problem { what, help: help.to_owned(), place: Some(place.clone()) })
        };
        node = match &mut node.value {
            Value::Table(table) => {
                let at = match table.entries.iter().position(|entry| entry.key == *key) {
                    Some(at) => at,
                    None => {
                        let value =
                            Node { place: place.clone(), value: Value::Table(Table::default()) };
                        table.entries.push(Entry { key: key.clone(), place, value });
                        table.entries.len() - 1
                    }
                };
                &mut table.entries[at].value
            }
            Value::Array(items) => {
                let count = items.len();
                match key.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                    Some(item) => item,
                    None => {
                        let what = format!("there is no number `{key}` in a list of {count}");
                        return refuse(what, "lists are numbered from 0, as in `change.0.to=30kB`");
                    }
                }
            }
            _ => {
                let what =
                    format!("`{}` is a single value in the document", path[..depth].join("."));
                return refuse(what, "set it as a whole");
            }
        };
    }
    *node = value;
    Ok(())
}
