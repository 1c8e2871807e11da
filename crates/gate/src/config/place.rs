//! Where a key stands in a file.

use super::Direction;

/// The file, with the line of a key where it has one; `name` is what messages call the file.
pub(super) fn of(text: &str, name: &str, direction: Option<Direction>, key: &str) -> String {
    let line = line(text, direction, key);
    line.map_or(name.to_owned(), |line| format!("{name}:{}", line + 1))
}

/// The line of a key: that in the table of the direction, or else the one beside it.
fn line(text: &str, direction: Option<Direction>, key: &str) -> Option<usize> {
    let (mut found, mut part) = (None, None);
    for (number, line) in text.lines().map(str::trim_start).enumerate() {
        if let Some(table) = line.strip_prefix('[') {
            part = table.split([']', '.']).next();
        }
        let mine = direction.map(Direction::name) == part;
        if part.is_some_and(|part| part == "down" || part == "up") && !mine {
            continue;
        }
        let rest = line.strip_prefix(key).map(str::trim_start);
        let table = line.trim_end().trim_end_matches(']').strip_suffix(key);
        let here = rest.is_some_and(|rest| rest.starts_with('='))
            || table.is_some_and(|head| head == "[" || head.ends_with('.'));
        if here && (found.is_none() || direction.is_some() && mine) {
            found = Some(number);
        }
    }
    found
}
