//! Tests that cannot run here.
//!
//! The harness knows passed and failed alone, so a test that returns early is green. It says so
//! here: in the file that `TIDEGATE_LEFT_OUT` names, one line a test, which `make test` counts
//! (`tools/left_out.py`). Where `TIDEGATE_RUN_ALL` is 1 it fails instead.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Says that the present test is left out, and why; behind the last colon is what would run it.
pub(super) fn record(reason: &str) {
    let all = std::env::var_os("TIDEGATE_RUN_ALL").is_some_and(|value| value == "1");
    let list = std::env::var_os("TIDEGATE_LEFT_OUT").map(PathBuf::from);
    left_out(all, list.as_deref(), reason);
}

fn left_out(all: bool, list: Option<&Path>, reason: &str) {
    assert!(!all, "this test is left out, but all have to run: {reason}");
    let thread = std::thread::current();
    // the harness calls the thread as the test is called
    let line = format!("crates/gate/tests {}\t{reason}\n", thread.name().unwrap_or("a test"));
    let Some(list) = list else { return eprint!("left out: {line}") };
    // in one write, as other tests append too
    let file = OpenOptions::new().create(true).append(true).open(list);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", list.display()));
}

/// One line each time: the name of the test, a tab, the reason.
#[test]
fn what_is_left_out_is_in_the_list() {
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("left-{}", std::process::id()));
    let line =
        "crates/gate/tests kernel::left_out::what_is_left_out_is_in_the_list\tno right: be root\n";
    for times in 1..=2 {
        left_out(false, Some(&list), "no right: be root");
        assert_eq!(std::fs::read_to_string(&list).expect("it is written"), line.repeat(times));
    }
    std::fs::remove_file(&list).expect("it is there");
}

#[test]
#[should_panic(expected = "all have to run: no right: be root")]
fn where_all_have_to_run_a_test_that_is_left_out_fails() {
    left_out(true, None, "no right: be root");
}
