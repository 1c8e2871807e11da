//! Recorded flows: what a table means, and how errors point at their line.

use std::collections::BTreeMap;

use tidegate_core::units::Time;
use tidegate_model::draw::ClassDraws;
use tidegate_model::scenario::{Arrivals, Direction, End, FlowSize, Replayed, Scenario};
use tidegate_model::{Report, Setting, Source, files, load, show};

use Direction::{Download, Upload};

const DOCUMENT: &str = r#"
name = "recorded"
duration = "10s"
[topology.dumbbell]
pairs = 3
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "9ms" }
[traffic.mine]
flows = "flows.csv"
"#;

const TABLE: &str = "start_s,size_bytes,direction,client
0.5,1000,download,a
0.25,300,upload,b
2,5000,download,c
";

fn try_with(table: &str, set: &[(&str, &str)]) -> Result<Scenario, Report> {
    let settings: Vec<Setting<'_>> =
        set.iter().map(|&(key, value)| Setting { key, value }).collect();
    let contents = BTreeMap::from([("flows.csv".to_owned(), table.as_bytes().to_vec())]);
    let source = Source { name: "test.toml", text: DOCUMENT };
    let loaded = load(source, &settings, &contents)?;
    // what is shown is the same scenario
    let shown = show(source, &settings, &contents)?;
    assert_eq!(load(Source { name: "shown", text: &shown }, &[], &contents)?, loaded, "{shown}");
    Ok(loaded)
}

fn with(table: &str, set: &[(&str, &str)]) -> Scenario {
    try_with(table, set).unwrap_or_else(|report| panic!("{report}"))
}

fn refusal(table: &str, set: &[(&str, &str)]) -> String {
    match try_with(table, set) {
        Ok(scenario) => panic!("was not refused: {scenario:#?}"),
        Err(report) => report.render(false),
    }
}

fn replayed(scenario: &Scenario) -> Vec<Replayed> {
    let class = &scenario.traffic[0];
    assert_eq!(class.size, FlowSize::Replayed);
    let Arrivals::Replayed(flows) = &class.arrivals else { panic!("{:?}", class.arrivals) };
    flows.to_vec()
}

fn flow(ms: u64, size: u64, direction: Direction) -> Replayed {
    Replayed { start: Time::from_ms(ms), size, direction, opens: direction.users() }
}

#[test]
fn the_file_is_asked_for_by_the_name_that_the_document_uses() {
    assert_eq!(files(Source { name: "x", text: DOCUMENT }, &[]).unwrap(), ["flows.csv"]);
}

#[test]
fn a_table_is_its_flows_by_start() {
    let scenario = with(TABLE, &[]);
    let expected = [flow(250, 300, Upload), flow(500, 1000, Download), flow(2000, 5000, Download)];
    assert_eq!(replayed(&scenario), expected);
    // 6000 B are downloads, 300 B are not
    assert_eq!(scenario.traffic[0].direction, Download);
}

#[test]
fn columns_may_stand_anywhere_and_be_quoted() {
    let table = "\u{feff}# a comment\n\"size_bytes\",\"start_s\"\r\n\r\n 300 , 0.25 \r\n# another\n1e3,\"0.5\"\n4999.5,2";
    // without directions they are as the flows of any class: to the users, opened by the sender
    let plain = |ms, size| Replayed { opens: End::Sender, ..flow(ms, size, Download) };
    assert_eq!(replayed(&with(table, &[])), [plain(250, 300), plain(500, 1000), plain(2000, 5000)]);
    let sent = replayed(&with(table, &[("traffic.mine.opens", "receiver")]));
    assert!(sent.iter().all(|flow| flow.opens == End::Receiver));
    let named = replayed(&with(table, &[("traffic.mine.direction", "download")]));
    let refused = try_with(TABLE, &[("traffic.mine.opens", "sender")]).unwrap_err().render(false);
    assert!(refused.contains("has a column `direction`, and users open their flows"), "{refused}");
    assert!(named.iter().all(|flow| (flow.direction, flow.opens) == (Download, End::Receiver)));
}

// a spreadsheet ends lines with the commas of empty cells
#[test]
fn empty_fields_at_the_end_of_a_line_are_left_alone() {
    let table = "start_s,size_bytes\n0.5,1000,,\n";
    let flows = replayed(&with(table, &[]));
    let told: Vec<(Time, u64)> = flows.iter().map(|flow| (flow.start, flow.size)).collect();
    assert_eq!(told, [(Time::from_ms(500), 1000)]);
}

#[test]
fn time_scale_stretches_and_limit_and_only_choose() {
    let scaled = replayed(&with(TABLE, &[("traffic.mine.time_scale", "0.5")]));
    let expected = [flow(125, 300, Upload), flow(250, 1000, Download), flow(1000, 5000, Download)];
    assert_eq!(scaled, expected);
    // the first two to start, though not the first two lines
    let first = with(TABLE, &[("traffic.mine.limit", "1")]);
    assert_eq!(replayed(&first), expected_first());
    // in a dumbbell the side of the users says where uploads go, whatever most bytes are
    assert_eq!(first.traffic[0].direction, Download);
    let downloads = replayed(&with(TABLE, &[("traffic.mine.only", "download")]));
    assert_eq!(downloads, [flow(500, 1000, Download), flow(2000, 5000, Download)]);
}

fn expected_first() -> [Replayed; 1] {
    [flow(250, 300, Upload)]
}

#[test]
fn draws_are_the_recorded_flows_and_turn_those_of_the_other_direction() {
    let scenario = with(TABLE, &[]);
    let drawn = |seed| {
        let mut draws = ClassDraws::new(seed, &scenario.traffic[0]);
        std::iter::from_fn(move || draws.next_flow()).collect::<Vec<_>>()
    };
    let flows = drawn(1);
    let told: Vec<_> =
        flows.iter().map(|flow| (flow.start, flow.size, flow.opens, flow.turned)).collect();
    let expected = [
        (Time::from_ms(250), Some(300), End::Sender, true),
        (Time::from_ms(500), Some(1000), End::Receiver, false),
        (Time::from_ms(2000), Some(5000), End::Receiver, false),
    ];
    assert_eq!(told, expected);
    // the seed chooses hosts and nothing else
    assert!((2..20).any(|seed| drawn(seed) != flows));
    let same =
        |seed| drawn(seed).iter().zip(&flows).all(|(a, b)| (a.start, a.size) == (b.start, b.size));
    assert!((2..20).all(same));
}

#[test]
fn what_is_wrong_in_a_table_is_shown_in_its_line() {
    let cases: [(&str, &[&str]); 18] = [
        ("", &["flows.csv, line 1", "no column `start_s`"]),
        ("time,size_bytes\n1,1\n", &["line 1", "no column `start_s`", "columns here: time"]),
        ("start_s;size_bytes\n0,5;1\n", &["separate the columns by commas, not by `;`"]),
        ("start_s\tsize_bytes\n0.5\t1\n", &["separate the columns by commas, not by tabs"]),
        (
            "start_s,sizebytes\n1,1\n",
            &["no column `size_bytes`", "write `size_bytes` in place of `sizebytes`"],
        ),
        (
            "start,size_bytes\n1,1\n",
            &["no column `start_s`", "write `start_s` in place of `start`,"],
        ),
        (
            "start_s,bytes\n1,1\n",
            &["no column `size_bytes`", "as in `start_s,size_bytes,direction`"],
        ),
        ("start_s,size_bytes\n", &["there are no flows in flows.csv"]),
        ("start_s,size_bytes\n1,1\n-1,5\n", &["line 3", "`start_s` cannot be `-1`", "^^"]),
        ("start_s,size_bytes\n1,1\n\n# x\n1,0\n", &["line 5", "`size_bytes` cannot be `0`"]),
        ("start_s,size_bytes\n1,many\n", &["line 2", "`size_bytes` cannot be `many`", "^^^^"]),
        ("start_s,size_bytes\n0,15,3\n", &["line 2", "3 fields, where the first line names 2"]),
        ("start_s,size_bytes,start_s\n0,3,1\n", &["line 1", "two columns `start_s`"]),
        ("start_s,size_bytes\n1\n", &["line 2", "`size_bytes` is empty"]),
        ("start_s,size_bytes\nNaN,1\n", &["line 2", "`start_s` cannot be `NaN`"]),
        ("start_s,size_bytes\n1e8,1\n", &["line 2", "`start_s` cannot be `1e8`"]),
        ("start_s,size_bytes,direction\n1,1,down\n", &["line 2", "cannot be `down`", "upload"]),
        ("start_s,size_bytes,direction\n1,1,\n", &["line 2", "`direction` is empty"]),
    ];
    for (table, says) in cases {
        let message = refusal(table, &[]);
        for text in says {
            assert!(message.contains(text), "{table:?}: {text:?} is not in\n{message}");
        }
    }
    // the line is shown under its own number
    let mut long = "start_s,size_bytes\n".to_owned();
    long.push_str(&"1,1\n".repeat(70_000));
    long.push_str("oh dear\n");
    let message = refusal(&long, &[]);
    assert!(
        message.contains("flows.csv:70002") && message.contains("70002 | oh dear"),
        "{message}"
    );
}

#[test]
fn a_table_has_a_million_flows_at_the_most() {
    let mut table = "start_s,size_bytes\n".to_owned();
    table.push_str(&"1,1\n".repeat(1_000_000));
    assert_eq!(replayed(&with(&table, &[])).len(), 1_000_000);
    table.push_str("1,1\n");
    assert!(refusal(&table, &[]).contains("line 1000002: more than 1000000 flows"));
}

#[test]
fn settings_that_contradict_are_refused() {
    let cases: [(&str, &str, &str); 8] = [
        ("traffic.mine.arrivals.poisson", "1/s", "`traffic.mine.arrivals`: has no effect with"),
        ("traffic.mine.size", "1kB", "`traffic.mine.size`: has no effect with"),
        ("traffic.mine.stop", "1s", "`traffic.mine.stop`: has no effect with"),
        ("traffic.mine.time_scale", "0", "`traffic.mine.time_scale`: 0 is out of range"),
        ("traffic.mine.time_scale", "-1", "`traffic.mine.time_scale`: -1 is out of range"),
        ("traffic.mine.limit", "0", "`traffic.mine.limit`"),
        ("traffic.mine.only", "both", "unknown name `both`"),
        ("traffic.mine.flows", "other.csv", "\"other.csv\" was not handed in"),
    ];
    for (key, value, says) in cases {
        let message = refusal(TABLE, &[(key, value)]);
        assert!(message.contains(says), "{key} = {value}: {says:?} is not in\n{message}");
    }
    let uploads = "start_s,size_bytes,direction\n1,1,upload\n";
    let message = refusal(uploads, &[("traffic.mine.only", "download")]);
    assert!(message.contains("none of the 1 flows in flows.csv has that direction"), "{message}");
    let message = refusal("start_s,size_bytes\n1,1\n", &[("traffic.mine.only", "download")]);
    assert!(message.contains("flows.csv has no column `direction`"), "{message}");
}

#[test]
fn what_replays_nothing_needs_arrivals_and_sizes() {
    let message = |class: &str| {
        let text = DOCUMENT.replace("flows = \"flows.csv\"", class);
        let source = Source { name: "test.toml", text: &text };
        load(source, &[], &BTreeMap::new()).unwrap_err().render(false)
    };
    let neither = message("");
    assert!(neither.contains("`traffic.mine`: the key `arrivals` is missing"), "{neither}");
    assert!(neither.contains("`traffic.mine`: the key `size` is missing"), "{neither}");
    let lost = message("arrivals = { poisson = \"1/s\" }\nsize = \"1kB\"\nlimit = 5");
    assert!(lost.contains("`traffic.mine.limit`: has no effect without `flows`"), "{lost}");
}
