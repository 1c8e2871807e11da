//! When a timer of Linux fires. The kernel's timer wheel (kernel/time/timer.c since
//! 4.8) checks distant timers seldom, and then fires all that are due at once.
//!
//! A timer that is set for up to 63 ticks is checked every tick, one for up to
//! eight times as long every eight ticks, and so on; it fires at the first such
//! instant after its time. So a tenth to an eighth of a long wait is added, and
//! losses at one time are repaired at one time: senders that have backed off to
//! several seconds share four instants a second.
//!
//! Of the timers that fire at one instant those of the longest waits fire first, and of one level the
//! one that was set last (`__run_timers`, `enqueue_timer`). So a sender that has waited long finds
//! what newer ones have left of the queue. For this order timers fire up to 1.6 us before the instant.
//!
//! | symbol | here   | value | meaning                                        |
//! |--------|--------|-------|------------------------------------------------|
//! | HZ     | `TICK` | 250   | ticks a second; kernels have 100, 250 or 1000  |
//! | -      | `NEAR` | 63    | ticks within which timers are checked each tick |
//! | -      | `LEVELS` | 4   | levels that differ in their order: waits up to 2 minutes |
//!
//! The sessions of one host share its ticks. Hosts do not: each has started at a time of its
//! own (`started`), drawn from its number. In classes with `shared_ticks` all have that of the host 0.
//!
//! Limits: the acceptor's SYN+ACK of an upload waits exactly as long as it should. Timers that were
//! set within 0.27 ms fire in the order of their flows. A kernel has such a wheel for each processor,
//! here a host has one.

use tidegate_core::units::Time;

pub(super) const TICK: Time = Time::from_ms(4);
const NEAR: u64 = 63;
const LEVELS: u32 = 4;
/// Bits of the picoseconds between which the order of two timers of a level is not kept.
const ALIKE_BITS: u32 = 28;
/// Bits of the picoseconds by which a level is before the next finer one: more than those of a wait.
const LEVEL_BITS: u32 = 19;

/// The whole ticks of a time (Linux: `nsecs_to_jiffies`).
pub(super) fn whole_ticks(time: Time) -> Time {
    TICK * (time.ps() / TICK.ps())
}

/// When a timer of a host fires that is set at `now` for `wait`.
pub(super) fn fires(host: u16, now: Time, wait: Time) -> Time {
    let started = started(host);
    fires_since(now + started, wait).saturating_sub(started)
}

/// How long a host has run at the start: up to 20 hours, spread evenly over the hosts
/// (multiples of the golden ratio), so that neither ticks nor the long rounds of two coincide.
fn started(host: u16) -> Time {
    Time::from_ps((u64::from(host) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8)
}

/// The same by the host's own clock, in the order of those that fire at one instant.
fn fires_since(now: Time, wait: Time) -> Time {
    let (instant, level) = instant(now, wait);
    let (level, age) = (level.min(LEVELS - 1), instant.saturating_sub(now).ps() >> ALIKE_BITS);
    let late = age.min((1 << LEVEL_BITS) - 1);
    Time::from_ps(instant.ps() + late - (u64::from(level) << LEVEL_BITS))
}

/// The instant at which it is found to be due, and the level of the wheel that has it.
fn instant(now: Time, wait: Time) -> (Time, u32) {
    let tick = TICK.ps();
    // whole ticks: those that have passed, and those that it takes at least
    let (passed, takes) = (now.ps() / tick, wait.ps().div_ceil(tick));
    // a level is checked every `1 << bits` ticks
    let (mut bits, mut level) = (0, 0);
    while takes >> bits >= NEAR && bits < 24 {
        (bits, level) = (bits + 3, level + 1);
    }
    (Time::from_ps(((((passed + takes) >> bits) + 1) << bits) * tick), level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 250 ticks a second are 4 ms each.
    #[test]
    fn whole_ticks_are_rounded_down() {
        let ticks = [3_999, 4_000, 17_500].map(|us| whole_ticks(Time::from_ns(us * 1000)));
        assert_eq!(ticks, [Time::ZERO, Time::from_ms(4), Time::from_ms(16)]);
    }

    // By hand, in ticks of 4 ms from the start: a wait of 200 ms is 50 ticks, looked at every tick
    // and fired at the 51st. 480 ms are 120 ticks, looked at every eighth: at 128. 3.84 s are 960
    // ticks, looked at every 64th: at 1024.
    #[test]
    fn long_waits_end_at_coarse_instants() {
        let ms = Time::from_ms;
        assert_eq!(instant(Time::ZERO, ms(200)), (ms(204), 0));
        assert_eq!(instant(Time::ZERO, ms(480)), (ms(128 * 4), 1));
        assert_eq!(instant(Time::ZERO, ms(3840)), (ms(1024 * 4), 2));
        // set 100 ms later, the last one fires at the same instant
        assert_eq!(instant(ms(100), ms(3840)), (ms(1024 * 4), 2));
        // between its time and an eighth of its wait later, wherever it is set
        for at in 0..1000 {
            let late = fires_since(ms(at), ms(1920)).saturating_sub(ms(at + 1920));
            assert!(late <= ms(32), "{at}: {late:?}");
        }
    }

    // The rule of the module, from Linux's functions: at one instant the timers of a coarse level fire
    // before those of a finer one, and in a level the one set last is the first. By hand, in ticks of
    // 4 ms: 1024 is an instant of levels 0, 1 and 2. The order takes less than two microseconds.
    #[test]
    fn at_one_instant_the_last_that_was_set_fires_first() {
        let ms = Time::from_ms;
        let set =
            [(ms(100), ms(3840)), (ms(0), ms(3840)), (ms(2090), ms(2000)), (ms(3892), ms(200))];
        let levels: Vec<_> = set.iter().map(|&(now, wait)| instant(now, wait)).collect();
        assert_eq!(levels, [(ms(4096), 2), (ms(4096), 2), (ms(4096), 1), (ms(4096), 0)]);
        let order: Vec<_> = set.iter().map(|&(now, wait)| fires_since(now, wait)).collect();
        assert!(order.is_sorted_by(|one, two| one < two), "{order:?}");
        for at in order {
            let apart = at.max(ms(4096)).saturating_sub(at.min(ms(4096)));
            assert!(apart < Time::from_ns(2000), "{at:?}");
        }
        // whatever is set, it does not fire before its time
        for (at, wait) in (0..4000).flat_map(|at| [252, 2016, 16_128].map(|wait| (at, wait))) {
            assert!(fires_since(ms(at), ms(wait)) > ms(at + wait));
        }
    }

    // The rule of the module: timers of one host that are set within a tenth of a second of each
    // other for 3.84 s fire at one or two instants, 256 ms apart; those of a hundred hosts that are
    // set at one instant fire all over these 256 ms (of ten tenths, none is empty).
    #[test]
    fn sessions_of_a_host_fire_together_and_hosts_do_not() {
        let (ms, at) = (Time::from_ms, Time::from_secs(60));
        let when = |k| (fires(7, at + ms(k), ms(3840)) + Time::from_ns(2000)).ps() / ms(1).ps();
        let mut own: Vec<u64> = (0..100).map(when).collect();
        own.dedup();
        assert!(own.len() <= 2, "{own:?}");
        let late = |host| fires(host, at, ms(3840)).saturating_sub(at + ms(3840)).ps();
        let mut tenths = [0; 10];
        for host in 0..100 {
            tenths[(late(host) * 10 / (ms(256) + TICK).ps()) as usize] += 1;
        }
        assert!(tenths.iter().all(|&hosts| hosts > 0), "{tenths:?}");
    }
}
