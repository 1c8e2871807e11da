//! How late this process is woken: on a machine that is too busy its sessions act late too.

use std::cell::RefCell;
use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How often it is noted.
const LOOK: Duration = Duration::from_millis(50);

/// How late each time, seconds.
#[derive(Default)]
pub(super) struct Late(RefCell<Vec<f64>>);

impl Late {
    /// Notes it until this is dropped.
    pub(super) async fn record(&self) -> Infallible {
        loop {
            let due = Instant::now() + LOOK;
            sleep_until(due).await;
            self.0.borrow_mut().push(due.elapsed().as_secs_f64());
        }
    }

    /// How late 95 of 100 times at most; zero: it was never noted.
    pub(super) fn p95(&self) -> f64 {
        let mut late = self.0.borrow().clone();
        late.sort_by(f64::total_cmp);
        late.get(late.len() * 95 / 100).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: of 1 to 100 ms 95 are below the 96th.
    #[test]
    fn the_latest_twentieth_is_left_out() {
        let late = Late(RefCell::new((1..=100).rev().map(f64::from).collect()));
        assert!((late.p95() - 96.0).abs() < 1e-9);
        assert!(Late::default().p95().abs() < 1e-9);
    }
}
