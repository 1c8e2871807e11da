//! Admission by client: users who load pages at twice the load that a link carries.
//!
//! A page is eleven objects of 102 kB in all over up to six connections; 5 Mbit/s carry six pages a
//! second, less headers. Twelve users a second come, and wait 30 s.

use crate::common::*;
use tidegate_sim::{Data, Results};

const BY_CLIENT: &str = "{ law = 'tide', admit = 'clients' }";
const BY_CONNECTION: &str = "{ law = 'tide', admit = 'connections' }";

/// Pages at a gate, with so many users a second, and another class.
fn pages(gate: &str, rate: &str, more: &str) -> Results {
    pages_over("", gate, rate, more)
}

/// The same over connections of another kind.
fn pages_over(kind: &str, gate: &str, rate: &str, more: &str) -> Results {
    pages_for("90s", kind, gate, rate, more)
}

/// The same for another time.
fn pages_for(duration: &str, kind: &str, gate: &str, rate: &str, more: &str) -> Results {
    run(&load(&document(duration, kind, gate, rate, more), &[]), 1)
}

fn document(duration: &str, kind: &str, gate: &str, rate: &str, more: &str) -> String {
    format!(
        "name = 'pages'\nduration = '{duration}'\n\
         [topology.dumbbell]\npairs = 1\naccess = {{ rate = '1Gbit', delay = '1ms' }}\n\
         bottleneck = {{ rate = '5Mbit', delay = '18ms', buffer = '50packets' }}\n\
         [traffic.web]\narrivals = {{ poisson = '{rate}' }}\nsize = '9kB'\n\
         pages = {{ document = '12kB', objects = 10, connections = 6{kind} }}\npatience = '30s'\n\
         transport = {{ tcp = {{ profile = 'linux' }} }}\n{more}\n\
         [port.bottleneck]\ngate = {gate}\n"
    )
}

/// Pages started and pages loaded of a class.
fn started_and_loaded(results: &Results, class: &str) -> (usize, usize) {
    let classes = results.pages.iter().find(|column| column.name == "class").expect("it is there");
    let Data::Category { codes, names } = &classes.data else { panic!("classes have names") };
    let times = column(&results.pages, "load_time_s");
    let of = codes.iter().zip(times).filter(|(code, _)| names[**code as usize] == class);
    let times: Vec<f64> = of.map(|(_, time)| time).collect();
    (times.len(), times.iter().filter(|time| time.is_finite()).count())
}

/// Pages loaded of the users.
fn done(results: &Results) -> usize {
    started_and_loaded(results, "web").1
}

/// Beside users at twice the load, clients that ask for one object and never give up. A SYN of
/// theirs is sent again after 1, 3, 7, 15, 31 and 63 s (RFC 6298): ever less often. After half a
/// minute they are overdue, and let in at the next try, at 31 s. The full queue loses some of these
/// SYNs behind the gate, which does not know: one in twenty, of 42 two in the mean and more than
/// five in one case of seventy (binomial).
#[test]
fn whoever_asks_seldom_is_let_in_after_half_a_minute() {
    let patient = "[traffic.patient]\narrivals = { every = '2s' }\nsize = '9kB'\n\
         transport = { tcp = { profile = 'rfc' } }";
    let results = pages_for("120s", "", BY_CLIENT, "12/s", patient);
    let of = |name| column(&results.flows, name);
    let (started, admitted) = (of("start_s"), of("admitted_s"));
    let classes = results.flows.iter().find(|column| column.name == "class").expect("it is there");
    let Data::Category { codes, names } = &classes.data else { panic!("classes have names") };
    let mine = (0..started.len()).filter(|&n| names[codes[n] as usize] == "patient");
    let early = mine.filter(|&n| started[n] < 120.0 - 36.0);
    let waits: Vec<f64> = early.map(|n| admitted[n] - started[n]).collect();
    assert_eq!(waits.len(), 42);
    let late = waits.iter().filter(|wait| wait.is_nan() || **wait > 31.5).count();
    assert!(late <= 5, "{waits:?}");
    assert!(waits.iter().any(|&wait| wait > 30.0), "somebody was overdue: {waits:?}");
}

/// Where each object has a connection of its own, a gate that decides on each connection refuses
/// some of nearly every page.
#[test]
fn users_who_are_let_in_get_their_page() {
    let alone = |gate: &str| done(&pages_over(", persistent = false", gate, "12/s", ""));
    let [none, tide, clients] = ["{ law = 'none' }", BY_CONNECTION, BY_CLIENT].map(alone);
    assert!(clients > 3 * none && clients > 3 * tide, "{none}, {tide}, {clients}");
}

/// At a third of the load as many pages are loaded as without a gate, and hardly a connection is
/// refused: the law closes for a moment where a burst saturates the link.
#[test]
fn at_light_load_all_pages_are_loaded() {
    let (none, clients) = (pages("{ law = 'none' }", "2/s", ""), pages(BY_CLIENT, "2/s", ""));
    assert_eq!(done(&none), done(&clients));
    let of = |name| total(&clients, "bottleneck", name);
    let share = of("syn_refused") / of("syn_arrived");
    assert!(share < 0.02, "{share} of the openers are refused");
}

/// At twice the load about half of the sessions are too many, and `onset` begins, though users who
/// wait for 8 s end what they have begun. It begins too where the end is the FIN that leaves directly
/// behind the data, and no session piles up: handshakes are lost. At half of the load nobody is
/// refused.
#[test]
fn an_overload_is_seen_whoever_ends_the_sessions() {
    let impatient = ("traffic.web.patience", "'8s'");
    let refused = |of: &str, rate: &str| {
        let gate = format!("{{ law = 'tide', onset = '2s', ends_of = '{of}' }}");
        let text = document("90s", ", persistent = false", &gate, rate, "");
        let results = run(&load(&text, &[impatient]), 1);
        let of = |name| total(&results, "bottleneck", name);
        of("syn_refused") / of("syn_arrived")
    };
    for of in ["sender", "peer"] {
        assert_eq!(refused(of, "3/s"), 0.0, "{of}");
        let share = refused(of, "12/s");
        assert!(share > 0.3, "{of}: {share}");
    }
}

/// Pages of eleven connections beside long downloads: the full queue loses more than half of the
/// packets, handshakes among them. When `onset` looked at open sessions alone it saw no overload: as
/// many pages were loaded as without a gate, half as many as with a law that was in force from the
/// start.
#[test]
fn an_overload_is_seen_where_handshakes_are_lost() {
    let downloads = "[traffic.downloads]\narrivals = { poisson = '0.1/s' }\nsize = '2MB'\n\
         direction = 'download'\ntransport = { tcp = { profile = 'linux' } }";
    let loaded = |gate: &str| {
        let down = ("traffic.web.direction", "'download'");
        let text = document("150s", ", persistent = false", gate, "8/s", downloads);
        done(&run(&load(&text, &[down]), 1))
    };
    let none = loaded("{ law = 'none' }");
    let [from_start, onset] = ["0s", "2s"]
        .map(|on| loaded(&format!("{{ law = 'tide', onset = '{on}', ends_of = 'peer' }}")));
    assert!(from_start as f64 > 1.5 * none as f64, "{none}, {from_start}");
    assert!(onset as f64 > 0.9 * from_start as f64, "{from_start}, {onset}");
}

/// A round trip takes 802 ms and more, so what a client opens after an object comes later than
/// `follow` (250 ms) behind the FIN that left with it: only the FIN of the client, which comes in
/// just before, lets the next connection follow. It must say whose it is. One connection at a time.
#[test]
fn a_visit_begins_with_the_fin_of_the_client_too() {
    let far = ("topology.dumbbell.bottleneck.delay", "'400ms'");
    let one = ("traffic.web.pages.connections", "1");
    let loaded = |more: &str| {
        let gate = format!("{{ law = 'tide', ends_of = 'peer'{more} }}");
        let text = document("120s", ", persistent = false", &gate, "12/s", "");
        done(&run(&load(&text, &[far, one]), 1))
    };
    let [visits, none] = ["", ", clients = { follow = '1ms', visit = '1ms' }"].map(loaded);
    assert!(visits as f64 > 1.25 * none as f64, "{visits}, {none}");
}

/// With the onset of a real gate hardly anybody is refused at half of the load, where users pile up
/// by chance at most: fewer than one opener of five hundred, and all pages are loaded that are loaded
/// without a gate. At twice the load it helps as much.
#[test]
fn hardly_anybody_is_refused_before_users_pile_up() {
    let at_onset = "{ law = 'tide', admit = 'clients', onset = '2s' }";
    let none = pages("{ law = 'none' }", "3/s", "");
    let clients = pages(at_onset, "3/s", "");
    let of = |name| total(&clients, "bottleneck", name);
    assert!(of("syn_refused") < of("syn_arrived") / 500.0, "{}", of("syn_refused"));
    assert_eq!(done(&clients), done(&none));
    let [without, with] = [BY_CLIENT, at_onset].map(|gate| done(&pages(gate, "12/s", "")));
    assert!(with as f64 > 0.9 * without as f64, "{without}, {with}");
}

/// A link of 1 Mbit/s carries a page a second over one connection. The least allowance was once more
/// than that, five a second, and the gate had no effect: as without one, 5 % of the users got their
/// page. Of twice as many users as fit it serves most of a half.
#[test]
fn a_slow_link_is_controlled_too() {
    let gate = "{ law = 'tide', admit = 'clients' }";
    let text = |gate: &str| {
        format!(
            "name = 'slow'\nduration = '120s'\n\
             [topology.dumbbell]\npairs = 1\naccess = {{ rate = '1Gbit', delay = '1ms' }}\n\
             bottleneck = {{ rate = '1Mbit', delay = '18ms', buffer = '50packets' }}\n\
             [traffic.web]\narrivals = {{ poisson = '2.4/s' }}\nsize = '9kB'\n\
             pages = {{ document = '12kB', objects = 10, connections = 1 }}\npatience = '30s'\n\
             transport = {{ tcp = {{ profile = 'linux' }} }}\n\
             [port.bottleneck]\ngate = {gate}\n"
        )
    };
    let [none, clients] =
        ["{ law = 'none' }", gate].map(|gate| done(&run(&load(&text(gate), &[]), 1)));
    assert!(clients > 4 * none, "{none}, {clients}");
}

/// A client with fifty times the connections of a user (a user opens six in a page, and is there
/// for some seconds) gets its share. The others load nearly as many pages as without it.
#[test]
fn one_client_cannot_take_the_places_of_others() {
    let greedy = "[traffic.greedy]\narrivals = { poisson = '60/s' }\nsize = '9kB'\nclients = 1\n\
                  direction = 'download'\ntransport = { tcp = { profile = 'linux' } }";
    let alone = done(&pages(BY_CLIENT, "12/s", ""));
    let beside = done(&pages(BY_CLIENT, "12/s", greedy));
    assert!(beside as f64 > 0.8 * alone as f64, "{alone}, {beside}");
}

/// A tenth of the users share one address; they get pages too.
#[test]
fn users_behind_one_address_get_their_share() {
    let behind = "[traffic.behind]\narrivals = { poisson = '1.2/s' }\nsize = '9kB'\nclients = 1\n\
                  pages = { document = '12kB', objects = 10, connections = 6 }\npatience = '30s'\n\
                  transport = { tcp = { profile = 'linux' } }";
    let results = pages(BY_CLIENT, "10.8/s", behind);
    let of = |class: &str| {
        let (all, done) = started_and_loaded(&results, class);
        done as f64 / all as f64
    };
    let (behind, others) = (of("behind"), of("web"));
    assert!(behind > 0.5 * others, "{behind} of those behind it, {others} of the others");
}
