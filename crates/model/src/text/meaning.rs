//! The meaning of a key, for messages: its description in the schema.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;

/// The description of the key at `path`. None if there is no such key, or if its meaning depends on
/// the law or transport.
pub(crate) fn meaning<S: AsRef<str>>(path: &[S]) -> Option<String> {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    let root = SCHEMA.get_or_init(|| schemars::schema_for!(crate::document::Document).to_value());
    let (last, parents) = path.split_last()?;
    let mut places = vec![root];
    for key in parents {
        let found = places.iter().flat_map(|place| inside(root, place, key.as_ref()));
        places = found.collect();
    }
    let keys = places.iter().flat_map(|place| inside(root, place, last.as_ref()));
    let said: BTreeSet<&str> = keys.filter_map(|key| key["description"].as_str()).collect();
    let mut said = said.into_iter();
    let only = said.next().filter(|_| said.next().is_none())?;
    Some(only.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The description of a key in each form that a value may take.
fn inside<'a>(root: &'a Value, place: &'a Value, key: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    let mut forms = vec![place];
    while let Some(form) = forms.pop() {
        if let Some(name) = form["$ref"].as_str() {
            forms.push(&root["$defs"][name.trim_start_matches("#/$defs/")]);
        }
        for union in ["anyOf", "oneOf", "allOf"] {
            forms.extend(form[union].as_array().into_iter().flatten());
        }
        let named = form["properties"].get(key);
        let any = form.get("additionalProperties").filter(|other| other.is_object());
        let item = form.get("items").filter(|_| key.parse::<usize>().is_ok());
        found.extend(named.or(any).or(item));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::meaning;

    /// Through tables by name, references, choices and lists; the text is the field's doc comment.
    #[test]
    fn keys_are_found_by_their_path() {
        let said = |path: &str| meaning(&path.split('.').collect::<Vec<_>>()).unwrap_or_default();
        assert!(said("duration").starts_with("Simulated time"));
        assert!(said("traffic.web.flows").starts_with("A file whose flows are replayed"));
        assert!(said("traffic.web.arrivals.uniform").starts_with("So many flows"));
        assert!(said("port.p.gate.increase_factor").starts_with("A probe allows"));
        assert!(said("traffic.web.transport.tcp.mss").starts_with("Payload"));
        assert!(said("change.0.what").starts_with("What changes"));
    }

    /// An unknown key, a table named by the user, and a key whose meaning depends on the law have
    /// none.
    #[test]
    fn nothing_is_said_of_what_has_no_words() {
        assert_eq!(meaning(&["nonsense"]), None);
        assert_eq!(meaning(&["duration", "deeper", "still"]), None);
        assert_eq!(meaning::<&str>(&[]), None);
        // sessions per epoch in one law, per second in another
        assert_eq!(meaning(&["port", "p", "gate", "alpha_min"]), None);
    }
}
