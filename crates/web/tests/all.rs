//! What a page asks, and what it is answered: on this machine, as in a browser.

use serde_json::{Value, json};
use tidegate_web::Laboratory;

const TEXT: &str = r#"
name     = "a page"
duration = "4s"
warmup   = "1s"

[topology.dumbbell]
pairs      = 2
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "20ms", buffer = "20packets" }

[traffic.web]
arrivals  = { poisson = "20/s" }
size      = "10kB"
transport = { tcp = { profile = "linux" } }

[variant.codel.port.bottleneck]
queue = { law = "codel" }
"#;

fn ask(laboratory: &mut Laboratory, request: Value) -> Value {
    let answer = laboratory.ask(request.to_string().as_bytes());
    serde_json::from_str(&answer).expect("an answer is JSON")
}

fn document(text: &str) -> Value {
    json!({ "text": text, "name": "scenario.toml", "settings": [] })
}

fn check(text: &str) -> Value {
    ask(&mut Laboratory::default(), json!({ "do": "check", "document": document(text) }))
}

/// Runs a document to its end, and returns what `finish` says.
fn run(laboratory: &mut Laboratory, document: &Value) -> Value {
    let begun = ask(laboratory, json!({ "do": "start", "document": document, "seed": "1" }));
    assert_eq!(begun, json!({}));
    loop {
        let at = ask(laboratory, json!({ "do": "advance", "events": 1000 }));
        if at["done"] == true {
            return ask(laboratory, json!({ "do": "finish" }));
        }
    }
}

#[test]
fn a_mistake_is_told_with_its_line_and_what_would_be_right() {
    let told = check(&TEXT.replace("2Mbit", "2Mbyte"));
    assert_eq!(told["problems"].as_array().map(Vec::len), Some(1));
    let problem = &told["problems"][0];
    // `bottleneck = ...` stands in line 9 of the text, which begins with an empty line
    assert_eq!((&problem["line"], &problem["of"]), (&json!(9), &json!("scenario.toml")));
    assert!(problem["help"].as_str().is_some_and(|help| !help.is_empty()));
    assert!(told["report"].as_str().is_some_and(|report| report.contains("scenario.toml:9")));
}

#[test]
fn a_mistake_in_a_setting_is_told_of_the_setting() {
    let mut document = document(TEXT);
    document["settings"] = json!([["traffic.web.size", "ten"]]);
    let told = ask(&mut Laboratory::default(), json!({ "do": "check", "document": document }));
    assert_eq!(told["problems"][0]["of"], "--set");
}

#[test]
fn a_scenario_is_described_before_it_runs() {
    let told = check(TEXT);
    assert_eq!(told["duration_s"], 4.0);
    assert_eq!(told["classes"], json!(["web"]));
    // 20 a second for four seconds
    assert_eq!(told["flows"], json!([["web", 80.0]]));
    assert_eq!(told["fits"], true);
    assert_eq!(told["written"]["topology"]["dumbbell"]["bottleneck"]["rate"], "2Mbit");
    assert_eq!(told["effective"]["traffic"]["web"]["transport"]["tcp"]["control"], "cubic");
    let change = &told["variants"][0]["changes"][0];
    assert_eq!(change["path"], json!(["port", "bottleneck", "queue"]));
    assert_eq!(change["value"], json!({ "law": "codel" }));
}

/// A flow takes 650 bytes: two million of them need more than a page has.
#[test]
fn a_scenario_that_is_too_large_is_told_so_beforehand() {
    let large = TEXT.replace("20/s", "500000/s");
    let told = check(&large);
    assert_eq!(told["fits"], false);
    assert!(told["memory_bytes"].as_f64().is_some_and(|bytes| bytes > 2e6 * 650.0));
}

#[test]
fn a_run_in_slices_of_any_size_has_the_same_digest() {
    let mut laboratory = Laboratory::default();
    let whole = run(&mut laboratory, &document(TEXT));
    let start = json!({ "do": "start", "document": document(TEXT), "seed": "1" });
    ask(&mut laboratory, start);
    for tenth in 1..=40 {
        let until_s = f64::from(tenth) / 10.0;
        while ask(&mut laboratory, json!({ "do": "advance", "events": 7, "until_s": until_s }))["now_s"]
            .as_f64()
            .is_some_and(|now| now < until_s)
        {}
        ask(&mut laboratory, json!({ "do": "glance", "windows": 3 }));
    }
    let sliced = ask(&mut laboratory, json!({ "do": "finish" }));
    assert_eq!(sliced["result_hash"], whole["result_hash"]);
    assert_eq!(sliced["now_s"], 4.0);
}

#[test]
fn a_run_that_is_stopped_has_tables_up_to_there() {
    let mut laboratory = Laboratory::default();
    ask(&mut laboratory, json!({ "do": "start", "document": document(TEXT), "seed": "1" }));
    ask(&mut laboratory, json!({ "do": "advance", "events": u64::MAX, "until_s": 2.0 }));
    let found = ask(&mut laboratory, json!({ "do": "finish" }));
    assert_eq!(found["now_s"], 2.0);
    let flows = ask(&mut laboratory, json!({ "do": "table", "name": "flows" }));
    let starts: Vec<f64> = serde_json::from_value(flows["start_s"].clone()).expect("numbers");
    assert!(!starts.is_empty() && starts.iter().all(|start| *start < 2.0));
}

#[test]
fn a_table_is_the_same_as_json_and_as_csv() {
    let mut laboratory = Laboratory::default();
    let found = run(&mut laboratory, &document(TEXT));
    let flows = ask(&mut laboratory, json!({ "do": "table", "name": "flows" }));
    let csv = laboratory
        .ask(json!({ "do": "table", "name": "flows", "form": "csv" }).to_string().as_bytes());
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let rows = found["tables"]["flows"].as_u64().expect("a number");
    assert_eq!(lines.len() as u64, rows + 1);
    for (place, name) in lines[0].iter().enumerate() {
        for (row, line) in lines[1..].iter().enumerate() {
            let cell = match &flows[name] {
                Value::Object(words) => {
                    words["words"][words["at"][row].as_u64().expect("a place") as usize].clone()
                }
                values => values[row].clone(),
            };
            match cell {
                Value::Null => assert_eq!(line[place], "", "{name} {row}"),
                Value::String(word) => assert_eq!(line[place], word, "{name} {row}"),
                number => {
                    // serde_json may read the last digit of a number otherwise than Rust
                    let read: f64 = line[place].parse().expect("a number");
                    let there = number.as_f64().expect("a number");
                    assert!((read - there).abs() <= 1e-15 * read.abs(), "{name} {row}");
                }
            }
        }
    }
}

#[test]
fn files_are_asked_for_and_a_capture_becomes_a_table_of_its_flows() {
    let text = r#"
name     = "replayed"
duration = "20s"

[topology.dumbbell]
pairs      = 10
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "800kbit", delay = "30ms", buffer = "30kB" }

[traffic.captured]
flows = "mine/narrow-link.pcap"
"#;
    let mut laboratory = Laboratory::default();
    let asked = json!({ "do": "check", "document": document(text) });
    assert_eq!(ask(&mut laboratory, asked.clone())["missing"], json!(["mine/narrow-link.pcap"]));
    let capture = include_bytes!("../../../scenarios/captures/narrow-link.pcap").to_vec();
    let cut = laboratory.file("cut.pcap".to_owned(), capture[..capture.len() - 3].to_vec());
    assert!(cut.contains("the flows up to there are replayed"), "{cut}");
    let whole = laboratory.file("mine/narrow-link.pcap".to_owned(), capture);
    // `tidegate flows` says the same of it
    assert!(whole.contains(r#"not among the flows: 1 connection without data"]}"#), "{whole}");
    let told = ask(&mut laboratory, asked);
    // as many as `tidegate flows` lists of it, of which some start after 20 s: see the scenario
    let flows = told["flows"][0][1].as_f64().expect("a number");
    assert!(flows > 30.0 && flows <= 110.0, "{told}");
    let parquet = laboratory.file("x.parquet".to_owned(), b"PAR1....".to_vec());
    assert!(parquet.contains("save it as CSV"));
}

#[test]
fn a_run_does_not_go_back_in_time_and_shows_as_many_windows_as_there_are() {
    let mut laboratory = Laboratory::default();
    ask(&mut laboratory, json!({ "do": "start", "document": document(TEXT), "seed": "1" }));
    for until_s in [2.0, 1.0, -1.0] {
        let request = json!({ "do": "advance", "until_s": until_s, "events": 1_000_000 });
        assert_eq!(ask(&mut laboratory, request)["now_s"], 2.0);
    }
    let all = ask(&mut laboratory, json!({ "do": "glance", "windows": usize::MAX }));
    let many = ask(&mut laboratory, json!({ "do": "glance", "windows": 1000 }));
    assert!(all["windows"].as_array().is_some_and(|windows| !windows.is_empty()), "{all}");
    assert_eq!(all["windows"], many["windows"]);
}

#[test]
fn what_is_no_request_is_refused_and_a_page_has_no_stacks_and_no_laws_of_ones_own() {
    let mut laboratory = Laboratory::default();
    assert!(ask(&mut laboratory, json!({ "do": "dance" }))["error"].is_string());
    assert_eq!(ask(&mut laboratory, json!({ "do": "finish" }))["error"], "no run has been started");
    let own = TEXT.replace(r#""codel""#, r#""python", name = "mine""#);
    let mut document = document(&own);
    document["settings"] =
        json!([["port.bottleneck.queue", "{ law = \"python\", name = \"mine\" }"]]);
    let start = json!({ "do": "start", "document": document, "seed": "1" });
    let told = ask(&mut laboratory, start);
    assert!(
        told["error"].as_str().is_some_and(|error| error.contains("--law FILE.py:mine")),
        "{told}"
    );
    let start = json!({ "do": "start", "document": document, "seed": "-1" });
    assert!(
        ask(&mut laboratory, start)["error"].as_str().is_some_and(|error| error.contains("seed"))
    );
}
