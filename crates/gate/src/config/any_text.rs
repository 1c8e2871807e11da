//! Whatever stands in a gate's file, or comes as an order or an address: it is read or refused.

use proptest::prelude::*;

use super::*;
use crate::orders::GateOrder;
use crate::page::place::Place;

const BASE: &str = "
mode = 'enforce'
page = '127.0.0.1:9478'
page_hosts = ['router.lan']
who = true
[down]
interface = 'lan0'
shape = '95Mbit'
law = { law = 'tide', admit = 'visits', clients = { share = 4, idle = '15s' } }
[up]
interface = 'wan0'
shape = '19Mbit'
shape_buffer = '125kB'
law = { law = 'close-probe', alpha_min = 2 }
onset = '2s'
tokens_keep = 2
opener = 'syn-ack'
quic = 'admit'
never_refuse = { networks = ['192.0.2.0/24', '2001:db8::/32'], ports = [22] }
dqm = { x_m = 10, x_M = 20, P_M = 0.5, buffer = 90 }
";

/// Words that mean something somewhere, for changes that get far.
const WORDS: &[&str] = &[
    "'",
    "{",
    "}",
    "[",
    "]",
    "[down]",
    "[up]",
    "[[up]]",
    "=",
    ",",
    "\n",
    "#",
    "law",
    "interface",
    "mode",
    "page",
    "page_hosts",
    "0.0.0.0:1",
    "::1",
    "visits",
    "clients",
    "tide",
    "-1",
    "1e400",
    "18446744073709551616",
    "99999999999h",
    "1bit",
    "0s",
    "nan",
    "true",
    "\u{0}",
    "\u{fffd}",
    "/33",
];

fn changed() -> impl Strategy<Value = String> {
    let edit = (0..BASE.len(), 0..15usize, prop::sample::select(WORDS));
    prop::collection::vec(edit, 1..6).prop_map(|edits| {
        let mut text = BASE.to_owned();
        for (at, length, word) in edits {
            let boundary = |at: usize| (at..=text.len()).find(|&at| text.is_char_boundary(at));
            let from = boundary(at.min(text.len())).unwrap_or(text.len());
            let to = boundary((from + length).min(text.len())).unwrap_or(text.len());
            text.replace_range(from..to, word);
        }
        text
    })
}

fn read(text: &str) {
    match Config::parse(text, "gate.toml") {
        Ok(all) => {
            assert!((1..=2).contains(&all.len()), "one gate, or two directions");
            // what is read is the same each time
            let again = Config::parse(text, "gate.toml").expect("it was right before");
            assert_eq!(format!("{all:?}"), format!("{again:?}"));
        }
        Err(failure) => assert!(failure.to_string().contains("gate.toml"), "{failure}"),
    }
}

#[test]
fn the_base_is_right() {
    let found = Config::parse(BASE, "gate.toml").map(|all| all.len());
    assert_eq!(found.map_err(|failure| failure.to_string()), Ok(2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_file_is_read_or_refused_with_its_name(text in changed()) {
        read(&text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn any_line_is_an_order_or_is_refused(
        text in prop_oneof!["\\PC{0,40}", "enforce [0-9]{1,25}", "(confirm|revert) ?\\PC{0,5}"],
    ) {
        if let Ok(order) = text.parse::<GateOrder>() {
            prop_assert_eq!(order.to_string().parse(), Ok(order));
            // the gate adds the time of a trial to its clock
            if let GateOrder::Enforce(time) = order {
                prop_assert!(std::time::Instant::now().checked_add(time).is_some());
            }
        }
    }

    #[test]
    fn a_page_is_for_this_machine_or_names_itself(
        address in prop_oneof!["\\PC{0,30}", "[0-9]{1,3}\\.0\\.0\\.[0-9]{1,3}:[0-9]{1,6}"],
    ) {
        if let Ok(place) = Place::new(&address, &[]) {
            prop_assert!(place.address.ip().is_loopback());
        }
    }
}
