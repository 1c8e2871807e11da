//! When a timer of Linux fires: the kernel looks at timers that are far away
//! seldom, and at all that have come due since then at once (its timer wheel,
//! kernel/time/timer.c since 4.8).
//!
//! A timer that is set for up to 63 ticks is looked at every tick, one for up to
//! eight times as long every eight ticks, and so on; it fires at the first such
//! instant behind its time. So a tenth to an eighth of a long wait is added, and
//! what was lost in a crowd is sent again in a crowd: senders that have backed
//! off to several seconds share four instants a second.
//!
//! | symbol | here   | value | meaning                                        |
//! |--------|--------|-------|------------------------------------------------|
//! | HZ     | `TICK` | 250   | ticks a second; kernels have 100, 250 or 1000  |
//! | -      | `NEAR` | 63    | ticks within which every tick is looked at     |
//!
//! Limits: all hosts tick together, as the sessions of one server do.

use tidegate_core::units::Time;

const TICK: Time = Time::from_ms(4);
const NEAR: u64 = 63;

/// When a timer fires that is set at `now` for `wait`.
pub(super) fn fires(now: Time, wait: Time) -> Time {
    let tick = TICK.ps();
    // whole ticks: those that have passed, and those that it takes at least
    let (passed, takes) = (now.ps() / tick, wait.ps().div_ceil(tick));
    let mut every = 1;
    while takes >= NEAR * every && every < 1 << 24 {
        every *= 8;
    }
    Time::from_ps(((passed + takes) / every + 1) * every * tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand, in ticks of 4 ms from the start: a wait of 200 ms is 50 ticks, looked at every tick
    // and fired at the 51st. 480 ms are 120 ticks, looked at every eighth: at 128. 3.84 s are 960
    // ticks, looked at every 64th: at 1024.
    #[test]
    fn long_waits_end_at_coarse_instants() {
        let ms = Time::from_ms;
        assert_eq!(fires(Time::ZERO, ms(200)), ms(204));
        assert_eq!(fires(Time::ZERO, ms(480)), ms(128 * 4));
        assert_eq!(fires(Time::ZERO, ms(3840)), ms(1024 * 4));
        // set 100 ms later, the last one fires at the same instant
        assert_eq!(fires(ms(100), ms(3840)), ms(1024 * 4));
        // between its time and an eighth of its wait later, wherever it is set
        for at in 0..1000 {
            let late = fires(ms(at), ms(1920)).saturating_sub(ms(at + 1920));
            assert!(late <= ms(32), "{at}: {late:?}");
        }
    }
}
