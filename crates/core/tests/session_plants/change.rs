//! The detector of sudden changes: two strange epochs on end, and not at once.

use tidegate_core::law::session::change::{Config, Detector};

/// A detector that has seen `epochs` epochs of 1000 arrivals and 200 ends.
fn settled(epochs: u32) -> Detector {
    let mut detector = Detector::new(Config::default());
    for _ in 0..epochs {
        assert!(!detector.observe(1000.0, 200.0));
    }
    detector
}

#[test]
fn the_second_strange_epoch_is_a_change() {
    // by hand, after steady epochs: ends are strange beyond 0.3 x 200 = 60, arrivals beyond 500
    for (arrivals, ends) in [(1000.0, 139.0), (1000.0, 261.0), (1501.0, 200.0), (499.0, 200.0)] {
        let mut detector = settled(20);
        assert!(!detector.observe(arrivals, ends));
        assert!(detector.observe(arrivals, ends), "{arrivals}, {ends}");
    }
    for (arrivals, ends) in [(1000.0, 140.0), (1000.0, 260.0), (1500.0, 200.0), (500.0, 200.0)] {
        let mut detector = settled(20);
        assert!(!detector.observe(arrivals, ends));
        assert!(!detector.observe(arrivals, ends), "{arrivals}, {ends}");
    }
}

#[test]
fn strange_epochs_apart_are_no_change() {
    let mut detector = settled(20);
    for _ in 0..20 {
        assert!(!detector.observe(1000.0, 20.0));
        assert!(!detector.observe(1000.0, 200.0));
    }
}

#[test]
fn nothing_is_strange_in_the_hold_off() {
    // five epochs of it, wherever the change falls
    for before in 1..4 {
        let mut detector = settled(before);
        for _ in before..5 {
            assert!(!detector.observe(1000.0, 20.0));
        }
    }
    let mut detector = settled(5);
    assert!(!detector.observe(1000.0, 20.0));
    assert!(detector.observe(1000.0, 20.0));
}

#[test]
fn a_restless_link_is_given_more_room() {
    // ends of 150 and 250 in turn: their mean deviation is 50, so up to 4 x 50 is normal
    let mut detector = Detector::new(Config { hold_off: 40, ..Config::default() });
    for epoch in 0..40 {
        detector.observe(1000.0, if epoch % 2 == 0 { 150.0 } else { 250.0 });
    }
    for ends in [100.0, 100.0, 300.0, 300.0] {
        assert!(!detector.observe(1000.0, ends));
    }
}

#[test]
fn few_sessions_are_never_a_change() {
    // up to 10 ends and 20 arrivals are chance on a quiet link
    let mut detector = Detector::new(Config::default());
    for epoch in 0..40 {
        let some = epoch % 4 < 2;
        assert!(!detector.observe(if some { 20.0 } else { 0.0 }, if some { 10.0 } else { 0.0 }));
    }
}
