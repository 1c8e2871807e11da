//! Any text as a scenario: loaded or refused, and what is shown of one that
//! loads is the same scenario again.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use tidegate_model::{Source, files, load, show};

fuzz_target!(|text: &str| {
    let source = Source { name: "fuzz.toml", text };
    let Ok(names) = files(source, &[]) else {
        if let Err(report) = load(source, &[], &BTreeMap::new()) {
            report.render(true);
        }
        return;
    };
    let sizes = b"100,0.5\n2000,1\n".to_vec();
    let flows = b"start_s,size_bytes,direction\n0,10,upload\n1,90,download\n".to_vec();
    let content = |name: &String| if name.ends_with('w') { &flows } else { &sizes }.clone();
    let contents = names.iter().map(|name| (name.clone(), content(name))).collect();
    match load(source, &[], &contents) {
        Ok(scenario) => {
            let shown = show(source, &[], &contents).expect("what loads can be shown");
            let again = load(Source { name: "shown", text: &shown }, &[], &contents);
            assert!(again.expect("what is shown loads") == scenario, "{shown}");
        }
        Err(report) => {
            report.render(false);
        }
    }
});
