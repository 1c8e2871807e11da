//! `docs/tidegated.md` says of every command what the command says of itself.

use std::path::{Path, PathBuf};

use tidegated::reference;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tidegated.md")
}

/// The page from its first section on is made from the commands; what stands before is written by hand.
#[test]
fn the_page_of_commands_is_what_the_commands_say() {
    let sections = reference();
    let text = std::fs::read_to_string(page()).expect("the page is there");
    if std::env::var_os("TIDEGATED_WRITE_PAGE").is_some() {
        if cfg!(not(feature = "gate")) {
            panic!("without its gate the program lacks commands: write the page with it");
        }
        let head = text.split("\n## ").next().unwrap_or_default();
        let parts: Vec<_> = sections.into_iter().map(|(_, section)| section).collect();
        let whole = format!("{}\n\n{}", head.trim_end(), parts.join("\n"));
        std::fs::write(page(), whole).expect("it can be written");
        return;
    }
    for (name, section) in &sections {
        assert!(
            text.contains(section.as_str()),
            "{name} is stale in docs/tidegated.md: TIDEGATED_WRITE_PAGE=1 cargo test -p \
             tidegated --features gate --test all help writes the page anew; it should have\n{section}"
        );
    }
}

// A command that there is no more does not stay in the page (where all commands are built in).
#[cfg(feature = "gate")]
#[test]
fn the_page_names_no_other_command() {
    let text = std::fs::read_to_string(page()).expect("the page is there");
    let named: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let there: Vec<_> = reference().into_iter().map(|(name, _)| name).collect();
    assert_eq!(named, there);
}
