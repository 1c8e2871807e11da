//! `[sweep]`: the axes of a grid of settings, written in the document.

use super::report::{Place, Problem};
use super::tree::{Entry, Node, Tree, Value};
use super::{decode, setting};
use crate::Axes;

/// Most values of one axis, and most seeds.
const MOST: usize = 10_000;

/// An axis with its locations.
#[derive(Debug)]
pub(crate) struct Axis<'a> {
    pub key: String,
    place: &'a Place,
    pub items: &'a [Node],
}

/// The content of `[sweep]`.
#[derive(Debug, Default)]
pub(crate) struct Sweep<'a> {
    pub axes: Vec<Axis<'a>>,
    seeds: Option<u64>,
}

impl<'a> Sweep<'a> {
    /// Reads the table `[sweep]` without checking keys and values.
    pub fn of(tree: &'a Tree) -> Result<Sweep<'a>, Problem> {
        let mut sweep = Sweep::default();
        let entry = tree.root.table().and_then(|root| root.get("sweep"));
        let Some(table) = entry.and_then(|entry| entry.value.table()) else {
            return Ok(sweep);
        };
        for entry in &table.entries {
            if entry.key == "seeds" {
                sweep.seeds = Some(seeds(&entry.value)?);
            } else if entry.value.table().is_some() {
                sweep.nested(entry, &mut Vec::new())?;
            } else {
                // a quoted key is a whole path
                sweep.axis(entry.key.clone(), entry)?;
            }
        }
        Ok(sweep)
    }

    /// Axes whose keys are written without quotes, or under headers.
    fn nested(&mut self, entry: &'a Entry, path: &mut Vec<String>) -> Result<(), Problem> {
        path.push(entry.key.clone());
        match entry.value.table() {
            Some(table) => {
                for entry in &table.entries {
                    self.nested(entry, path)?;
                }
            }
            None => self.axis(super::tree::joined(path), entry)?,
        }
        path.pop();
        Ok(())
    }

    fn axis(&mut self, key: String, entry: &'a Entry) -> Result<(), Problem> {
        let refuse = |what: &str| {
            let what = format!("`sweep`, axis `{key}`: {what}");
            let mut help = "write its values as a list, as in `[\"50/s\", \"100/s\"]`".to_owned();
            if decode::near(&key, "seeds") {
                help = format!("did you mean `seeds`? Else {help}");
            }
            Err(Problem { what, help, place: Some(entry.value.place.clone()) })
        };
        let items = match &entry.value.value {
            Value::Array(items) if items.is_empty() => return refuse("the list is empty"),
            Value::Array(items) if items.len() > MOST => {
                return refuse(&format!("more than {MOST} values"));
            }
            Value::Array(items) => items,
            _ => return refuse("not a list of values"),
        };
        self.axes.push(Axis { key, place: &entry.place, items });
        Ok(())
    }

    /// Calls `look` with the document for each value of each axis at least once, with the first
    /// values of the other axes.
    pub fn points(
        &self,
        tree: &Tree,
        look: impl Fn(Node) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut base = tree.root.clone();
        if let Some(root) = base.table_mut() {
            root.remove("sweep");
        }
        for axis in &self.axes {
            axis.put(&mut base, 0)?;
        }
        look(base.clone())?;
        for axis in &self.axes {
            for number in 1..axis.items.len() {
                let mut root = base.clone();
                axis.put(&mut root, number)?;
                look(root)?;
            }
        }
        Ok(())
    }

    /// Keys and values in the form of settings.
    pub fn settings(&self, tree: &Tree) -> Axes {
        let values = |axis: &Axis<'_>| axis.items.iter().map(|item| tree.toml(item)).collect();
        let axes = self.axes.iter().map(|axis| (axis.key.clone(), values(axis))).collect();
        Axes { axes, seeds: self.seeds }
    }
}

impl Axis<'_> {
    fn put(&self, root: &mut Node, number: usize) -> Result<(), Problem> {
        match self.items.get(number) {
            Some(item) => setting::put(root, &self.key, self.place, item.clone()),
            None => Ok(()),
        }
    }
}

fn seeds(node: &Node) -> Result<u64, Problem> {
    match node.value {
        Value::Integer(seeds) if (1..=MOST as i64).contains(&seeds) => Ok(seeds.unsigned_abs()),
        _ => Err(Problem {
            what: "`sweep.seeds`: not a number of seeds".to_owned(),
            help: format!("write a whole number from 1 to {MOST}, as in `seeds = 10`"),
            place: Some(node.place.clone()),
        }),
    }
}
