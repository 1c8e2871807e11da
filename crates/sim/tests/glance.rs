//! A run that is looked at: the same results, and counts that agree with the tables.

use tidegate_core::units::Time;
use tidegate_model::columns::{Column, Data};
use tidegate_sim::{Custom, Progress, Simulation, Viewer};

use crate::common::load;

const DOCUMENT: &str = r#"
name     = "a glance"
duration = "8s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "20ms", buffer = "20packets" }

[port.bottleneck]
queue = { law = "codel" }

[traffic.long]
arrivals  = { uniform = 2, within = "1s" }
size      = "unlimited"
transport = { tcp = { profile = "linux" } }

[traffic.web]
arrivals  = { poisson = "30/s" }
size      = "10kB"
patience  = "2s"
transport = { tcp = { profile = "linux" } }

[traffic.pages]
arrivals  = { poisson = "1/s" }
size      = "5kB"
pages     = { document = "5kB", objects = 3, connections = 2 }
transport = { tcp = { profile = "linux" } }
"#;

fn floats<'a>(columns: &'a [Column], name: &str) -> &'a [f64] {
    let column = columns.iter().find(|column| column.name == name);
    match &column.expect("the column is there").data {
        Data::F64(values) => values,
        _ => panic!("{name} has no real numbers"),
    }
}

/// Looking changes nothing: whoever looks, and when, the tables are the same to the bit.
#[test]
fn a_run_that_is_looked_at_has_the_same_results() {
    let scenario = load(DOCUMENT, &[]);
    let run = |every_ms: Option<u64>| {
        let mut simulation =
            Simulation::new(&scenario, 3, Custom::default()).expect("it can be built");
        let mut viewer = Viewer::default();
        let mut until = Time::ZERO;
        loop {
            until = every_ms.map_or(scenario.duration, |ms| until + Time::from_ms(ms));
            let progress = simulation.advance(until, u64::MAX).expect("no law fails");
            if every_ms.is_some() {
                simulation.glance(&mut viewer, 5);
            }
            if progress == Progress::Done {
                return simulation.finish();
            }
        }
    };
    let plain = run(None);
    // digests, as times that did not come are NaN, which equals nothing
    for every_ms in [7, 500] {
        assert_eq!(run(Some(every_ms)).digest(), plain.digest(), "every {every_ms} ms");
    }
}

/// The counts of a glance are those of the tables: a flow is in one of them from the moment that its
/// row has the time of it.
#[test]
fn a_glance_counts_what_the_tables_have() {
    let scenario = load(DOCUMENT, &[]);
    let mut simulation = Simulation::new(&scenario, 4, Custom::default()).expect("it can be built");
    let mut viewer = Viewer::default();
    let mut glances = Vec::new();
    for tenth in 1..=80 {
        let until = Time::from_ms(100 * tenth);
        simulation.advance(until, u64::MAX).expect("no law fails");
        glances.push(simulation.glance(&mut viewer, 4));
    }
    let results = simulation.finish();
    let code = results.flows.iter().find(|column| column.name == "class").map(|each| &each.data);
    let Some(Data::Category { codes, .. }) = code else { panic!("flows have a class") };
    let times =
        ["start_s", "admitted_s", "closed_s", "gave_up_s"].map(|name| floats(&results.flows, name));
    let mut windows = 0;
    for glance in &glances {
        let now = glance.now.secs();
        for (class, seen) in (0u32..).zip(&glance.classes) {
            let rows = (0..codes.len()).filter(|&row| codes[row] == class);
            let by = |which: usize, row: usize| times[which][row] <= now;
            let count =
                |each: &dyn Fn(usize) -> bool| rows.clone().filter(|&row| each(row)).count() as u64;
            assert_eq!(seen.started, count(&|row| by(0, row)), "class {class} at {now}");
            assert_eq!(seen.completed, count(&|row| by(2, row)), "class {class} at {now}");
            assert_eq!(seen.gave_up, count(&|row| by(3, row)), "class {class} at {now}");
            let open = count(&|row| by(1, row) && !by(2, row) && !by(3, row));
            assert_eq!(seen.open, open, "class {class} at {now}");
        }
        // the flows that have been open for longest, in their order, and the two without end for good
        assert!(glance.windows.len() <= 4);
        assert!(glance.windows.is_sorted_by(|one, other| one.flow < other.flow));
        assert!(glance.windows.iter().all(|window| window.cwnd_packets >= 1.0));
        windows +=
            usize::from(glance.windows.iter().filter(|window| window.class == 0).count() == 2);
        let [forward, _] = glance.ports.as_slice() else { panic!("two ports are no access links") };
        assert!(forward.queue_bytes >= u64::from(forward.queue_packets) * 40);
    }
    // from when on no flow is older than the second of them but the first
    let long = |row: &usize| codes[*row] == 0;
    let second = (0..codes.len()).filter(long).nth(1).expect("there are two");
    let over = |row: usize| times[2][row].min(times[3][row]);
    let clear = (0..second).filter(|row| !long(row)).map(over).fold(times[1][second], f64::max);
    let least = glances.iter().filter(|glance| glance.now.secs() > clear).count();
    assert!(least > 20, "older flows last until {clear} s");
    assert!(windows >= least, "the two flows without end were seen {windows} times, not {least}");
    let lost = glances.last().expect("it was looked at").ports[0].lost;
    let total = results.port_totals.iter().filter(|column| column.name.starts_with("drops_"));
    let total: u64 = total
        .map(|column| match &column.data {
            Data::U64(values) => values[0],
            _ => 0,
        })
        .sum();
    let port =
        results.port_totals.iter().find(|column| column.name == "port").map(|each| &each.data);
    let Some(Data::Category { codes, names }) = port else { panic!("ports have names") };
    assert_eq!(names[codes[0] as usize], "bottleneck");
    assert!(lost > 0 && lost == total, "{lost} lost, {total} in the table");
}

/// What is counted after the warm-up is nothing, and no mean is known, where a run is ended before:
/// by the meaning of these columns. The flows have delivered by then, so the rule is not met by
/// chance.
#[test]
fn a_run_that_is_ended_in_its_warm_up_has_counted_nothing_after_it() {
    let scenario =
        load(&DOCUMENT.replace("duration = \"8s\"", "duration = \"8s\"\nwarmup = \"5s\""), &[]);
    for (end_s, measured) in [(2, false), (5, false), (6, true)] {
        let mut run = Simulation::new(&scenario, 4, Custom::default()).expect("it can be built");
        run.advance(Time::from_secs(end_s), u64::MAX).expect("no law fails");
        let results = run.finish();
        let counts = |columns: &[Column], name: &str| -> u64 {
            let column = columns.iter().find(|column| column.name == name);
            match &column.expect("the column is there").data {
                Data::U64(values) => values.iter().sum(),
                _ => panic!("{name} has no whole numbers"),
            }
        };
        assert!(counts(&results.flows, "delivered_bytes") > 0, "at {end_s} s");
        assert_eq!(counts(&results.flow_window, "window_bytes") > 0, measured, "at {end_s} s");
        assert_eq!(counts(&results.port_totals, "departed_bytes") > 0, measured, "at {end_s} s");
        for name in ["utilisation", "queue_mean_packets"] {
            let means = floats(&results.port_totals, name);
            assert!(means.iter().all(|mean| mean.is_nan() != measured), "{name} at {end_s} s");
        }
    }
}
