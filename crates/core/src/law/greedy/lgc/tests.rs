//! Worked examples of the paper, then rules.

use proptest::prelude::*;

use super::*;
use crate::units::Rate;

/// So many packets of each origin, which all come over the link from node 99.
fn queue(held: &[(u64, u32)]) -> Vec<Key> {
    let key = |origin| Key { from: Node(99), origin: Node(origin) };
    held.iter().flat_map(|(origin, count)| (0..*count).map(move |_| key(*origin))).collect()
}

fn trigger(held: &[(u64, u32)]) -> Trigger {
    Lgc::new(&Config::default()).trigger(Time::ZERO, queue(held).into_iter())
}

fn greediest(held: &[(u64, u32)]) -> Option<u64> {
    trigger(held).greedy.map(|(key, _)| key.origin.0)
}

// 3.1.1: 75 packets of 5 connections: k = ln 15 = 2.708, r = ceil(40.62) = 41, which is 54.66 % of 75.
#[test]
fn the_example_of_the_detection() {
    assert!((disparity(5) - 2.708).abs() < 5e-4);
    assert_eq!(responsive_share(75, 5), 41);
    assert_eq!((100.0f64 * 41.0 / 75.0 * 100.0).floor(), 5466.0);
    assert_eq!(greediest(&[(1, 41), (2, 10), (3, 10), (4, 7), (5, 7)]), None);
    assert_eq!(greediest(&[(1, 42), (2, 10), (3, 9), (4, 7), (5, 7)]), Some(1));
}

// 5.1: 39 packets of 7 connections, 21 of the first: f = 5.57, k = 3.0445, r = 17, and 21 > 17.
#[test]
fn the_queue_of_experiment_1() {
    assert!((disparity(7) - 3.0445).abs() < 5e-5);
    let held = [(1, 21), (2, 4), (3, 5), (4, 3), (5, 2), (6, 2), (7, 2)];
    let trigger = trigger(&held);
    assert_eq!((trigger.packets, trigger.connections(), trigger.share), (39, 7, 17));
    assert_eq!(trigger.greedy, Some((Key { from: Node(99), origin: Node(1) }, 21)));
    assert_eq!(trigger.held, held.map(|(origin, count)| (Node(origin), count)));
}

// Figure 2, from eq. d by hand; only n = 10 is printed (5.4: 34.01 %).
#[test]
fn the_permissible_share_of_figure_2() {
    for (n, percent) in [(1, 109.86), (2, 89.59), (3, 73.24), (7, 43.49), (10, 34.01), (50, 10.02)]
    {
        assert!((permissible_percent(n) - percent).abs() < 5e-3, "n = {n}");
    }
}

// 5.4, the blind spot: five greedy flows with 15 % each, five responsive with 5 %: none is seen.
#[test]
fn five_equal_greedy_flows_go_unseen() {
    let held: Vec<_> = (1..=5).map(|i| (i, 15)).chain((6..=10).map(|i| (i, 5))).collect();
    let trigger = trigger(&held);
    assert_eq!((trigger.packets, trigger.connections(), trigger.share), (100, 10, 35));
    assert_eq!(trigger.greedy, None);
}

// 3.1.1: the greediest is singled out; the other one has its turn when the first has left.
#[test]
fn the_greediest_comes_first() {
    // n = 10, p = 100: r = ceil(34.01) = 35
    let rest = || (3..=10).map(|i| (i, 3));
    let both: Vec<_> = [(1, 36), (2, 40)].into_iter().chain(rest()).collect();
    assert_eq!(greediest(&both), Some(2));
    let one: Vec<_> = [(1, 36)].into_iter().chain(rest()).collect();
    assert_eq!(greediest(&one), Some(1));
}

// An origin's own last packet says where it comes from (4.2: the packet in the buffer reveals the source).
#[test]
fn the_link_is_that_of_its_last_packet() {
    let key = |from, origin| Key { from: Node(from), origin: Node(origin) };
    let others = (10..20).map(|origin| key(5, origin));
    let queued = (0..30).map(|i| key(if i < 29 { 3 } else { 4 }, 1)).chain(others);
    let trigger = Lgc::new(&Config::default()).trigger(Time::ZERO, queued);
    assert_eq!(trigger.greedy, Some((key(4, 1), 30)));
}

// 2.2.1: avg = (1-w) avg + w q; with w = 0.02 and q = 50 from zero, avg_k = 50 (1 - 0.98^k),
// so it passes 25 at the first k with 0.98^k < 1/2: k = 35 (0.98^34 = 0.503, 0.98^35 = 0.493).
#[test]
fn the_average_moves_slowly() {
    let mut lgc = Lgc::new(&Config::default());
    let pace = Rate::from_bps(1_000_000).pace();
    let first = (1..100).find(|_| lgc.observe(50, None, pace, Time::ZERO));
    assert_eq!(first, Some(35));
}

// 2.2.1: an idle link for m packet times takes (1-w)^m off: 500 B at 1 Mbit/s are 4 ms, so 138.6 ms
// are m = 34.65, and 0.98^34.65 = 0.49659 (by hand, exp(34.65 ln 0.98)).
#[test]
fn idle_time_takes_the_average_down() {
    let mut lgc = Lgc::new(&Config::default());
    let pace = Rate::from_bps(1_000_000).pace();
    for _ in 0..2_000 {
        lgc.observe(50, None, pace, Time::ZERO);
    }
    let idle = Some(Time::from_secs_f64(0.1386));
    assert!((lgc.average(idle, pace) - 50.0 * 0.49659).abs() < 1e-3);
    lgc.observe(0, idle, pace, Time::ZERO);
    assert!((lgc.average(None, pace) - 50.0 * 0.49659).abs() < 1e-3);
}

// 4.2: between two triggers there is at least Tx, however long avg stays above max_th.
#[test]
fn is_suspended_for_tx() {
    let mut lgc = Lgc::new(&Config { w: 1.0, tx: Time::from_secs(3), ..Config::default() });
    let pace = Rate::from_bps(1_000_000).pace();
    let at = Time::from_ms;
    assert!(lgc.observe(26, None, pace, at(500)));
    lgc.trigger(at(500), queue(&[(1, 26)]).into_iter());
    assert!(!lgc.observe(26, None, pace, at(501)));
    assert!(!lgc.observe(26, None, pace, at(3_499)));
    assert!(lgc.observe(26, None, pace, at(3_500)));
}

// The listing says avg > max_th: at the threshold itself the node is not yet congested.
#[test]
fn the_threshold_itself_does_not_trigger() {
    let mut lgc = Lgc::new(&Config { w: 1.0, ..Config::default() });
    let pace = Rate::from_bps(1_000_000).pace();
    assert!(!lgc.observe(25, None, pace, Time::ZERO));
    assert!(lgc.observe(26, None, pace, Time::ZERO));
}

// 4.2 and Figure 3: N4 - N3 - N2 - N1 - G. Each filters for ITime and asks the next; N1, whose previous
// hop is G itself, filters for FHTime and asks nobody.
#[test]
fn the_filter_moves_to_the_first_hop_and_stops_there() {
    let config = Config::default();
    let source = Node(100);
    let way = [Node(3), Node(2), Node(1), source];
    let mut now = Time::from_secs(10);
    for (i, from) in way.into_iter().enumerate() {
        let placed = place(&config, Key { from, origin: source }, now);
        if i < 3 {
            let until = now + Time::from_secs(5);
            assert_eq!(placed.until, until);
            assert_eq!(placed.ask, Some(Ask::Filter { to: from, origin: source, until }));
        } else {
            assert_eq!((placed.until, placed.ask), (now + Time::from_secs(100), None));
        }
        now += Time::from_ms(100);
    }
}

// 5.4: the filter that does not move, for comparison, asks nobody.
#[test]
fn a_static_filter_stays_where_it_is() {
    let config = Config { mobile: false, ..Config::default() };
    let key = Key { from: Node(3), origin: Node(100) };
    let placed = place(&config, key, Time::ZERO);
    assert_eq!(placed, Placement { key, until: Time::from_secs(100), ask: None });
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |config: Config| config.check().expect_err("refused").0;
    assert_eq!(refused(Config { w: 0.0, ..Config::default() }), "w");
    assert_eq!(refused(Config { w: f64::NAN, ..Config::default() }), "w");
    assert_eq!(refused(Config { max_th: 0.0, ..Config::default() }), "max_th");
    assert_eq!(refused(Config { itime: Time::ZERO, ..Config::default() }), "itime");
    assert_eq!(refused(Config { most_filters: 0, ..Config::default() }), "most_filters");
    assert_eq!(
        refused(Config { mean_packet: Size::from_bytes(0), ..Config::default() }),
        "mean_packet"
    );
    assert!(Config::default().check().is_ok());
}

proptest! {
    // 3.1.1: with n = 1 no connection is greedy, whatever it holds: r = ceil(1.0986 p) > p - 1.
    #[test]
    fn a_lone_connection_is_never_greedy(packets in 1u32..100_000) {
        prop_assert!(responsive_share(packets, 1) >= packets);
        prop_assert_eq!(trigger(&[(7, packets.min(500))]).greedy, None);
    }

    // Whatever waits: the counts add up, who is singled out holds most and more than r, and otherwise nobody does.
    #[test]
    fn singles_out_the_one_with_most(held in prop::collection::btree_map(0u64..20, 1u32..60, 0..12)) {
        let held: Vec<_> = held.into_iter().collect();
        let trigger = trigger(&held);
        prop_assert_eq!(trigger.packets, held.iter().map(|(_, count)| count).sum::<u32>());
        let most = held.iter().map(|(_, count)| *count).max().unwrap_or(0);
        match trigger.greedy {
            Some((_, count)) => prop_assert!(count == most && count > trigger.share),
            None => prop_assert!(most <= trigger.share),
        }
    }
}
