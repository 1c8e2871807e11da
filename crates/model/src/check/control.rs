//! Rearranges the transport of a class for its types.

use crate::control::Control;
use crate::tree::{Entry, Node, Table, Value};

/// Turns `"qfcp"` into a table, and separates a control's own keys from those of TCP, which a
/// document mixes: `{ qfcp = { pacing = false, mss = "1kB" } }` becomes `{ qfcp = { own = { pacing
/// = false }, tcp = { mss = "1kB" } } }`.
pub(super) fn spread(transport: &mut Node) {
    if let Value::String(name) = &transport.value {
        let value = Value::Table(Table { entries: Vec::new(), also: &[] });
        let place = transport.place.clone();
        let node = Node { place: place.clone(), value };
        let entry = Entry { key: name.clone(), place, value: node, hidden: false };
        transport.value = Value::Table(Table { entries: vec![entry], also: &[] });
    }
    let Some(table) = transport.table_mut() else { return };
    for entry in &mut table.entries {
        let known = Control::keys(&entry.key);
        let (Some(keys), Some(settings)) = (known, entry.value.table_mut()) else { continue };
        let entries = std::mem::take(&mut settings.entries);
        let (own, tcp): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|entry| keys.contains(&entry.key.as_str()));
        let place = entry.value.place.clone();
        let part = |key: &str, entries, also| Entry {
            key: key.to_owned(),
            place: place.clone(),
            value: Node { place: place.clone(), value: Value::Table(Table { entries, also }) },
            hidden: true,
        };
        let parts = vec![part("own", own, &[]), part("tcp", tcp, keys)];
        entry.value.value = Value::Table(Table { entries: parts, also: &[] });
    }
}
