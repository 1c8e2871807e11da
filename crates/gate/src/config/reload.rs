//! What a running gate cannot take over from its file.

use tidegate_common::fail::Failure;

use super::{Config, Direction, place};
use crate::hook::Hook;

/// Why gates that run cannot take over a file: `running` are all gates of the file that they
/// started with, `new` are those of `text`. Each of them finds the same, so no one takes it over
/// alone.
pub fn obstacle(running: &[Config], new: &[Config], text: &str, name: &str) -> Option<Failure> {
    let directions = |all: &[Config]| all.iter().map(|it| it.direction).collect::<Vec<_>>();
    if directions(running) != directions(new) {
        let what = "the file names other directions than the gate that runs";
        return Some(Failure::usage(name, what).remedy("restart the gate"));
    }
    running.iter().zip(new).find_map(|(old, new)| {
        let key = fixed_difference(old, new)?;
        let part = new.direction.map_or(String::new(), |it| format!("[{}] ", Direction::name(it)));
        let what = format!("{part}{key}: a running gate cannot change this");
        let place = place::of(text, name, new.direction, key);
        Some(Failure::usage(place, what).remedy("restart the gate"))
    })
}

/// The first key that differs and needs a restart.
fn fixed_difference(old: &Config, new: &Config) -> Option<&'static str> {
    // only filters have one
    let prioritized = Hook::choose(old.file.hook) == Hook::Clsact;
    let same = [
        ("interface", old.file.interface == new.file.interface),
        ("metrics", old.metrics == new.metrics),
        ("page", old.page == new.page),
        ("socket", old.socket == new.socket),
        ("hook", old.file.hook == new.file.hook),
        ("priority", !prioritized || old.file.priority == new.file.priority),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
}
