//! Groups of packets, and the filter of the change of their delay (draft-ietf-rmcat-gcc-02, 5.1 to
//! 5.3).

use std::collections::VecDeque;

use crate::units::Time;

/// From one group to the next, in ms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Change {
    /// `T(i) - T(i-1)`.
    pub(super) departure_ms: f64,
    /// `t(i) - t(i-1)`.
    pub(super) arrival_ms: f64,
    /// `d(i)`.
    pub(super) delay_ms: f64,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// When its first and its last packet were sent, and when the last one came.
    first: Time,
    sent: Time,
    arrived: Time,
}

/// Packets put together to groups (5.2).
#[derive(Debug)]
pub(super) struct Groups {
    burst_time: Time,
    before: Option<Group>,
    now: Option<Group>,
}

fn ms_between(earlier: Time, later: Time) -> f64 {
    (later.secs() - earlier.secs()) * 1e3
}

impl Groups {
    pub(super) fn new(burst_time: Time) -> Groups {
        Groups { burst_time, before: None, now: None }
    }

    /// A packet has come; if it begins a group, the change of the two groups before it.
    pub(super) fn add(&mut self, sent: Time, arrived: Time) -> Option<Change> {
        let Some(group) = &mut self.now else {
            self.now = Some(Group { first: sent, sent, arrived });
            return None;
        };
        // 5.1: what comes out of order is ignored
        if sent < group.sent || arrived < group.arrived {
            return None;
        }
        let gap = arrived - group.arrived;
        let sooner = gap < sent - group.sent;
        if sent - group.first <= self.burst_time || (gap < self.burst_time && sooner) {
            (group.sent, group.arrived) = (sent, arrived);
            return None;
        }
        let full = self.now.replace(Group { first: sent, sent, arrived })?;
        let before = self.before.replace(full)?;
        let departure_ms = ms_between(before.sent, full.sent);
        let arrival_ms = ms_between(before.arrived, full.arrived);
        Some(Change { departure_ms, arrival_ms, delay_ms: arrival_ms - departure_ms })
    }
}

/// The Kalman filter (5.3).
#[derive(Debug)]
pub(super) struct KalmanFilter {
    q: f64,
    chi: f64,
    groups: usize,
    m: f64,
    e: f64,
    var_v: f64,
    /// `T(j) - T(j-1)` of the last groups.
    departures: VecDeque<f64>,
}

impl KalmanFilter {
    pub(super) fn new((q, e): (f64, f64), chi: f64, groups: usize) -> KalmanFilter {
        KalmanFilter { q, chi, groups, m: 0.0, e, var_v: 1.0, departures: VecDeque::new() }
    }

    /// `m(i)` after `d(i)`, both in ms.
    pub(super) fn update(&mut self, delay_ms: f64, departure_ms: f64) -> f64 {
        self.departures.push_back(departure_ms);
        if self.departures.len() > self.groups {
            self.departures.pop_front();
        }
        let shortest = self.departures.iter().copied().fold(f64::INFINITY, f64::min);
        let z = delay_ms - self.m;
        // f_max is 1 / shortest, per ms
        let alpha = libm::pow(1.0 - self.chi, 30.0 * shortest / 1000.0);
        let bounded = z.min(3.0 * self.var_v.sqrt());
        self.var_v = (alpha * self.var_v + (1.0 - alpha) * bounded * bounded).max(1.0);
        let k = (self.e + self.q) / (self.var_v + self.e + self.q);
        self.m += z * k;
        self.e = (1.0 - k) * (self.e + self.q);
        self.m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With q = 0.001, e(0) = 0.1 and chi = 0.01.
    fn filter() -> KalmanFilter {
        KalmanFilter::new((0.001, 0.1), 0.01, 60)
    }

    fn changes(packets: &[(u64, u64)]) -> Vec<(f64, f64, f64)> {
        let mut groups = Groups::new(Time::from_ms(5));
        let times =
            packets.iter().map(|&(sent, arrived)| (Time::from_ms(sent), Time::from_ms(arrived)));
        let found = times.filter_map(|(sent, arrived)| groups.add(sent, arrived));
        let whole = |ms: f64| (ms * 1e6).round() / 1e6;
        found
            .map(|each| (each.departure_ms, each.arrival_ms, each.delay_ms))
            .map(|(one, two, three)| (whole(one), whole(two), whole(three)))
            .collect()
    }

    /// 5.1, 5.2 by hand: 0 and 4 ms are one group, sent by 4 and there at 56; 33 ms is the second,
    /// there at 90: 29 ms after in departure, 34 in arrival, 5 ms longer. The third, sent at 66,
    /// tells of it.
    #[test]
    fn packets_of_five_milliseconds_are_a_group() {
        let found = changes(&[(0, 50), (4, 56), (33, 90), (66, 120)]);
        assert_eq!(found, [(29.0, 34.0, 5.0)]);
    }

    /// 5.2 by hand: what comes 3 ms after the group, sent 10 ms after it, is merged with it, as after
    /// an outage; what comes 8 ms after it is not.
    #[test]
    fn what_comes_in_a_burst_is_one_group() {
        assert_eq!(changes(&[(0, 50), (20, 100), (30, 103), (60, 140), (90, 170)]).len(), 2);
        assert_eq!(changes(&[(0, 50), (20, 100), (30, 108), (60, 140), (90, 170)]).len(), 3);
    }

    /// 5.3 by hand, at 30 groups per second (alpha = 1 - chi = 0.99): z = 2, var_v = max(0.99 +
    /// 0.01 * 4, 1) = 1.03, k = 0.101 / 1.131, m = 2 k, e = (1 - k) 0.101. Then d = 2 again.
    #[test]
    fn the_filter_is_that_of_the_draft() {
        let mut filter = filter();
        let apart = 1000.0 / 30.0;
        let k = 0.101 / 1.131;
        let first = filter.update(2.0, apart);
        assert!((first - 2.0 * k).abs() < 1e-9, "{first}");
        let z = 2.0 - first;
        let var_v = 0.99 * 1.03 + 0.01 * z * z;
        let e = (1.0 - k) * 0.101 + 0.001;
        let second = filter.update(2.0, apart);
        assert!((second - (first + z * e / (var_v + e))).abs() < 1e-9, "{second}");
    }

    /// 5.3: an outlier of 100 ms counts as three deviations in the noise: 0.99 + 0.01 * 9 = 1.08.
    #[test]
    fn an_outlier_is_bounded_in_the_noise() {
        let mut filter = filter();
        filter.update(100.0, 1000.0 / 30.0);
        assert!((filter.var_v - 1.08).abs() < 1e-9, "{}", filter.var_v);
    }
}
