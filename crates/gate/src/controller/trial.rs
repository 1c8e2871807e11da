//! Orders of an operator: refusals for a while.

use std::time::Duration;

use tidegate_common::fail::{At, Failure};
use tidegate_common::output;
use tokio::time::Instant;

use super::{Concern, Controller};
use crate::config::Mode;
use crate::orders::GateOrder;

impl Controller {
    /// Does what an operator asks for; what to answer. Who then asks for the status finds it done.
    pub(super) fn follow_order(&mut self, order: GateOrder) -> Result<String, Failure> {
        let done = self.try_order(order);
        self.show_mode();
        done
    }

    /// Shows in the status whether the gate refuses, and for how long.
    fn show_mode(&self) {
        let (mode, left) = (self.config.file.mode.name(), self.trial_left());
        self.board.send_modify(|status| {
            mode.clone_into(&mut status.mode);
            status.trial_s = left;
        });
    }

    /// Seconds until a trial ends by itself.
    pub(super) fn trial_left(&self) -> Option<f64> {
        let left = |end: Instant| end.saturating_duration_since(Instant::now()).as_secs_f64();
        self.trial.map(left)
    }

    fn try_order(&mut self, order: GateOrder) -> Result<String, Failure> {
        let name = self.config.file.interface.clone();
        let refused = |what: &str| Err(Failure::failed(&name, what));
        if let (GateOrder::Enforce(_) | GateOrder::Confirm, Some(observation)) =
            (order, &self.observation)
        {
            let what = "this gate was started to observe alone: it has no file, and refuses nobody";
            return Err(Failure::failed(&name, what).remedy(format!(
                "end it (SIGINT): it writes {}; then run that: tidegated gate --config {0}",
                observation.plan.file.display()
            )));
        }
        match order {
            GateOrder::Enforce(_)
                if self.config.file.mode == Mode::Enforce && self.trial.is_none() =>
            {
                refused(if self.is_here()? {
                    "the gate refuses already, and not for a while only"
                } else {
                    "it will refuse when it is back, and not for a while only"
                })
            }
            GateOrder::Enforce(time) => {
                let here = self.is_here()?;
                self.change_mode(Mode::Enforce)?;
                self.trial = Some(Instant::now() + time);
                tracing::warn!("{name}: a trial of {time:?} begins");
                Ok(tried(&name, here, time))
            }
            GateOrder::Confirm if self.trial.take().is_none() => {
                refused("there is no trial to confirm: tidegated gate enforce --for 10min")
            }
            GateOrder::Confirm => {
                tracing::warn!("{name}: the trial is confirmed");
                let refusing = refusing(&name, self.is_here().unwrap_or(false));
                Ok(format!(
                    "{refusing} until the gate ends or reads its file again; to keep it, set `mode = \"enforce\"` in {}",
                    self.path.display()
                ))
            }
            GateOrder::Revert => {
                self.trial = None;
                self.change_mode(Mode::Observe)?;
                Ok(format!("{name}: observing; nothing is refused{}", self.until()))
            }
        }
    }

    /// Whether the gate is attached; `false` where its interface is away and waited for.
    fn is_here(&mut self) -> Result<bool, Failure> {
        // what has become of it since the last renewal, and if it is new, at once: nothing is promised
        // of an interface that is gone, and one that is back is not taken for one that is away
        if self.renew() || self.renew() {
            return Ok(true);
        }
        let name = &self.config.file.interface;
        if self.netlink.interface(name).at(name)?.is_none() {
            return Ok(false);
        }
        let what = "the gate is not attached here, so nothing can be refused";
        Err(Failure::failed(name, what).remedy("tidegated status says why"))
    }

    /// How long an order to observe holds, where the file says otherwise.
    fn until(&self) -> String {
        if self.mode_of_file == Mode::Observe {
            return String::new();
        }
        format!(
            " until the gate ends or reads its file again; to keep it so, set `mode = \"observe\"` in {}",
            self.path.display()
        )
    }

    fn change_mode(&mut self, mode: Mode) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.config.file.mode, mode);
        let changed = self.apply_config();
        if changed.is_err() {
            self.config.file.mode = before;
        }
        changed
    }

    /// Nobody has confirmed the trial: the gate observes again.
    pub(super) fn end_trial(&mut self) {
        self.trial = None;
        tracing::warn!("{}: the trial is over: observing again", self.config.file.interface);
        if let Err(failure) = self.change_mode(Mode::Observe) {
            // without programs that can be written to, the lease lapses and everything passes
            self.keep_totals();
            self.placed = None;
            self.config.file.mode = Mode::Observe;
            self.report(Concern::Interface, failure.to_string());
        }
        self.show_mode();
    }

    /// Prints what was observed so far.
    pub(super) fn say_progress(&self) {
        if let Some(observation) = &self.observation {
            output::say(&observation.summary());
        }
    }
}

/// That the gate of an interface refuses, or will when the interface is back.
fn refusing(name: &str, here: bool) -> String {
    if here {
        format!("{name}: refusing")
    } else {
        format!("{name} is away: it will refuse when it is back,")
    }
}

/// What an order to refuse for a while is answered.
fn tried(name: &str, here: bool, time: Duration) -> String {
    let span = if here { format!("for {time:?}") } else { format!("until {time:?} from now") };
    format!(
        "{} {span}, then observing again; to go on: tidegated gate confirm",
        refusing(name, here)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // Of an interface that is away it must not be said that anything is refused there.
    #[test]
    fn what_is_away_is_not_said_to_refuse() {
        let time = Duration::from_secs(20);
        let said = tried("lan0", true, time);
        assert!(said.starts_with("lan0: refusing for 20s, then observing again"), "{said}");
        let said = tried("wan0", false, time);
        let away = "wan0 is away: it will refuse when it is back, until 20s from now, then";
        assert!(said.starts_with(away) && !said.contains("refusing"), "{said}");
    }
}
