//! The load that is offered to links, and the mean size of flows, where something changes during
//! the run. Expected values are worked out by hand.

use tidegate_model::lint::expected;
use tidegate_model::offered::{Offered, offered};

use crate::load::loaded;

const BASE: &str = r#"
name = "base"
duration = "20s"

[topology.dumbbell]
pairs = 2
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "5Mbit", delay = "10ms", buffer = "1bdp" }

[traffic.web]
arrivals = { poisson = "20/s" }
size = "10kB"
"#;

fn bottleneck(more: &str) -> Offered {
    let scenario = loaded(&format!("{BASE}{more}"), &[]).expect("it is sound");
    offered(&scenario).into_iter().find(|port| port.port == "bottleneck").expect("data crosses it")
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9 * wanted.abs(), "{found} instead of {wanted}");
}

/// By hand: 400 flows of 10 kB are 32 Mbit of the 100 Mbit that 5 Mbit/s carry in 20 s.
#[test]
fn a_load_is_payload_in_parts_of_what_the_link_carries() {
    near(bottleneck("").share.unwrap(), 0.32);
    near(bottleneck("").rate_bps, 5e6);
}

/// By hand: 100 flows of 10 kB and 300 of 100 kB are 31 MB, 248 Mbit of 100 Mbit.
#[test]
fn a_change_of_the_size_counts_from_when_it_holds() {
    let step = "[[change]]\nwhat = 'traffic.web.size.mean'\nat = '5s'\nto = '100kB'\n";
    near(bottleneck(step).share.unwrap(), 2.48);
    let scenario = loaded(&format!("{BASE}{step}"), &[]).unwrap();
    near(expected(&scenario)[0].mean_bytes.unwrap(), 77_500.0);
}

/// By hand: with rates of 2 t flows/s and sizes of 10 + 2 t kB until 10 s, then 20 flows/s of 30 kB:
/// the integral of 2 t (10 + 2 t) up to 10 is 1000 + 4000 / 3 kB, and 6000 kB follow.
#[test]
fn ramps_of_arrivals_and_sizes_are_multiplied_where_they_meet() {
    let ramps = "[[change]]\nwhat = 'traffic.web.arrivals'\nat = '0s'\nuntil = '10s'\nto = '20/s'\n\
                 [[change]]\nwhat = 'traffic.web.size.mean'\nat = '0s'\nuntil = '10s'\nto = '30kB'\n";
    let none = BASE.replace("20/s", "0/s");
    let scenario = loaded(&format!("{none}{ramps}"), &[]).unwrap();
    let bits = (7000.0 + 4000.0 / 3.0) * 8e3;
    near(offered(&scenario)[0].share.unwrap(), bits / 100e6);
}

/// By hand: of flows at 1, 4 and 6 s the last has 100 kB, so 120 kB come; of four flows spread over
/// 10 s half have 100 kB, so 220 kB.
#[test]
fn listed_and_spread_flows_have_the_size_of_their_start() {
    let step = "[[change]]\nwhat = 'traffic.web.size.mean'\nat = '5s'\nto = '100kB'\n";
    for (arrivals, bytes) in
        [("{ at = ['1s', '4s', '6s'] }", 120e3), ("{ uniform = 4, within = '10s' }", 220e3)]
    {
        let text = BASE.replace("{ poisson = \"20/s\" }", arrivals);
        let scenario = loaded(&format!("{text}{step}"), &[]).unwrap();
        near(offered(&scenario)[0].share.unwrap(), bytes * 8.0 / 100e6);
    }
}

/// By hand: one user is there from 0 s on, and asks for a page of ten objects every 2 s in the mean:
/// five seconds of 100 kB and 15 of 1 MB, 15.5 MB by two are 62 Mbit.
#[test]
fn users_ask_for_objects_of_the_size_of_that_time() {
    let text = BASE.replace(
        "arrivals = { poisson = \"20/s\" }",
        "arrivals = { at = ['0s'] }\npages = { objects = 10, think = '2s', count = 'unlimited' }",
    );
    let step = "[[change]]\nwhat = 'traffic.web.size.mean'\nat = '5s'\nto = '100kB'\n";
    let scenario = loaded(&format!("{text}{step}"), &[]).unwrap();
    let down = offered(&scenario);
    near(down[0].share.unwrap(), 0.62);
}

/// By hand: 5 s of 5 Mbit/s and 15 of 0.5 Mbit/s carry 32.5 Mbit, 1.625 Mbit/s; a pulse that ends
/// after the run counts as far as it goes.
#[test]
fn a_change_of_the_rate_counts_from_when_it_holds() {
    for more in ["", "pulse = '100s'\n"] {
        let step = "[[change]]\nwhat = 'bottleneck.rate'\nat = '5s'\nto = '500kbit'\n";
        let found = bottleneck(&format!("{step}{more}"));
        near(found.share.unwrap(), 32.0 / 32.5);
        near(found.rate_bps, 1.625e6);
    }
}

/// By hand: of a trace of 10 s at 1 and 10 s at 3 Mbit/s a run of 15 s has 25 Mbit. A link that is
/// always out carries nothing, and a load of it is beyond measure, not undefined.
#[test]
fn a_trace_counts_as_far_as_the_run_goes() {
    let of = |rows: &str, duration: &str| {
        let text = BASE.replace("\"20s\"", duration);
        let text = format!("{text}[port.bottleneck]\nrate = {{ trace = 'x.csv' }}\n");
        let files = [("x.csv".to_owned(), rows.as_bytes().to_vec())].into();
        let source = tidegate_model::Source { name: "t", text: &text };
        offered(&tidegate_model::load(source, &[], &files).unwrap())[0].clone()
    };
    let found = of("time_s,rate_bit_s\n0,1000000\n10,3000000\n20,3000000\n", "'15s'");
    near(found.share.unwrap(), 300.0 * 80e3 / 25e6);
    near(found.rate_bps, 25e6 / 15.0);
}

/// By hand: two flows of 0.6 Mbit/s, of which 972 in 1000 B are payload, over a shaper of 1 Mbit/s.
/// A shaper that is faster than the link changes nothing, and one beneath `dqm` counts.
#[test]
fn a_shaper_that_is_slower_than_the_link_is_the_capacity() {
    let text = BASE.replace("poisson = \"20/s\"", "at = ['0s', '0s']").replace("10kB", "unlimited");
    let text = format!("{text}transport = {{ udp = {{ rate = '600kbit', packet = '1000B' }} }}\n");
    for (queue, capacity) in [
        ("{ law = 'cake', bandwidth = '1Mbit' }", 1e6),
        ("{ law = 'cake', bandwidth = '1Mbit', overhead = 44 }", 1e6),
        ("{ law = 'dqm', over = { law = 'cake', bandwidth = '1Mbit' } }", 1e6),
        ("{ law = 'cake', bandwidth = '9Mbit' }", 5e6),
        ("{ law = 'cake' }", 5e6),
    ] {
        let shaped = format!("{text}[port.bottleneck]\nqueue = {queue}\n");
        let found = offered(&loaded(&shaped, &[]).unwrap())[0].clone();
        near(found.rate_bps, capacity);
        near(found.share.unwrap(), 1.2e6 * 0.972 / capacity);
        // the slower of the two at every moment: 5 s of the capacity, 15 s of 0.5 Mbit/s
        let change = "[[change]]\nwhat = 'bottleneck.rate'\nat = '5s'\nto = '500kbit'\n";
        let found = offered(&loaded(&format!("{shaped}{change}"), &[]).unwrap())[0].clone();
        near(found.rate_bps, (5.0 * capacity + 15.0 * 0.5e6) / 20.0);
    }
}
