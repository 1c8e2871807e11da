//! The page of commands, from the commands themselves.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// Of each command, and of those below it, its name and its part of `docs/tidegated.md`.
pub fn sections(program: &Command) -> Vec<(String, String)> {
    let mut all = Vec::new();
    collect(program, "tidegated", &mut all);
    all
}

fn collect(command: &Command, name: &str, all: &mut Vec<(String, String)>) {
    all.push((name.to_owned(), of(command, name)));
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        collect(below, &format!("{name} {}", below.get_name()), all);
    }
}

fn of(command: &Command, name: &str) -> String {
    let mut text = format!("## {name}\n");
    if let Some(about) = command.get_about() {
        let about = about.to_string();
        let _ = write!(text, "\n{}.\n", about.trim_end_matches('.'));
    }
    let arguments: Vec<_> = command
        .get_arguments()
        .filter(|argument| !["help", "version"].contains(&argument.get_id().as_str()))
        .collect();
    if arguments.is_empty() {
        return text;
    }
    text.push_str("\n| | |\n|---|---|\n");
    for argument in arguments {
        // writing to a string does not fail
        let _ = writeln!(text, "| `{}` | {} |", spelled(argument), meaning(argument));
    }
    text
}

fn spelled(argument: &Arg) -> String {
    let values: Vec<_> = argument.get_value_names().unwrap_or_default().to_vec();
    let values = values.join(" ");
    match argument.get_long() {
        None if argument.is_required_set() => values,
        None => format!("[{values}]"),
        Some(long) if argument.get_action().takes_values() => format!("--{long} {values}"),
        Some(long) => format!("--{long}"),
    }
}

fn meaning(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if defaults.iter().any(|value| !value.is_empty()) && argument.get_action().takes_values() {
        let _ = write!(text, "; default {}", defaults.join(" "));
    }
    if argument.is_required_set() && argument.get_long().is_some() {
        text.push_str(". **Required.**");
    }
    text.replace('|', "\\|")
}
