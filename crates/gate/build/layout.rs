//! The structures of `bpf/gate.h` in Rust: what stands once cannot differ.

/// A structure of the header, its name in Rust, and what it derives beside what all do.
const NAMED: [(&str, &str, &str); 6] = [
    ("struct tally", "Tally", "Default, "),
    ("struct settings", "Settings", "Default, "),
    // its default is not zero: there is no ceiling
    ("struct control", "GateControl", ""),
    ("struct observed", "Observed", "Default, "),
    ("struct who_key", "ClientKey", "Default, "),
    ("struct who", "ClientCounts", "Default, "),
];
/// What all derive. One with a gap is refused.
const ALL_DERIVE: &str =
    "Clone, Copy, PartialEq, Debug, FromBytes, IntoBytes, Immutable, KnownLayout";

/// What the header has, in Rust.
pub fn in_rust(header: &str) -> String {
    let mut rust = String::new();
    for (about, code) in header.split("\n\n/* ").filter_map(|part| part.split_once(" */\n")) {
        // what stands in one line is of the programs alone
        let Some((what, body)) = code.split_once(" {\n") else { continue };
        let (body, _) = body.split_once("\n};").expect("it ends");
        rust += &match what {
            "struct knobs" => knobs(body),
            "enum fate" => fates(body),
            _ => structure(about, what, body),
        };
    }
    rust
}

/// A structure with public fields.
fn structure(about: &str, what: &str, body: &str) -> String {
    let (_, name, derives) = NAMED.iter().find(|named| named.0 == what).expect("it has a name");
    let lines = body.lines().map(str::trim).map(|line| match field(line) {
        Some((kind, name)) => match name.split_once('[') {
            Some((name, count)) => format!("    pub {name}: [{kind}; {count},\n"),
            None => format!("    pub {name}: {kind},\n"),
        },
        None => format!("    /// {}\n", line.trim_matches(['/', '*', ' '])),
    });
    format!(
        "/// {about}\n#[derive({derives}{ALL_DERIVE})]\n#[repr(C)]\npub struct {name} {{\n{}}}\n\n",
        lines.collect::<String>()
    )
}

/// The type and the name of a field, as in `__u64 packets[FATES];`; none: a comment.
fn field(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("__")?.split_once(';')?.0.split_once(' ')
}

/// How the core's `Knobs` lie in the map. If one has a field that the other lacks, this does not
/// compile.
fn knobs(body: &str) -> String {
    let (mut names, mut copies, mut at) = (Vec::new(), String::new(), 0);
    for (kind, name) in body.lines().filter_map(|line| field(line.trim())) {
        let size = if kind == "u64" { 8 } else { 4 };
        assert!(at % size == 0, "there is a gap before {name}");
        let range = format!("{at}..{}", at + size);
        copies += &format!("    bytes[{range}].copy_from_slice(&{kind}::to_ne_bytes({name}));\n");
        names.push(name);
        at += size;
    }
    assert!(at % 8 == 0, "there is a gap after the knobs");
    format!(
        "/// The bytes of the knobs in the map.\n\
         pub fn knobs_bytes(knobs: &Knobs) -> [u8; {at}] {{\n    \
             let Knobs {{ {} }} = *knobs;\n    \
             let mut bytes = [0; {at}];\n\
         {copies}    \
             bytes\n\
         }}\n\n",
        names.join(", ")
    )
}

/// That the decisions have the numbers that they have in the programs.
fn fates(body: &str) -> String {
    let names = body.lines().filter_map(|line| line.trim().strip_prefix("FATE_"));
    let words = names.map(|name| name.split([',', ' ']).next().unwrap_or_default().split('_'));
    let arms = words.map(|words| words.map(capitalized).collect::<String>());
    let numbers = arms.enumerate().map(|(at, arm)| format!("Fate::{arm} as usize == {at} && "));
    format!(
        "const FATES: usize = Fate::COUNT;\nconst _: () = assert!({}FATES == {});\n\n",
        numbers.collect::<String>(),
        body.matches("\tFATE_").count()
    )
}

fn capitalized(word: &str) -> String {
    word[..1].to_owned() + &word[1..].to_lowercase()
}
