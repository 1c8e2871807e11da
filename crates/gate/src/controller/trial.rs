//! Orders of an operator: refusals for a while, and what was observed.

use std::fs::OpenOptions;
use std::io::Write;

use tidegate_common::fail::{At, Failure};
use tidegate_common::output;
use tokio::time::Instant;

use super::{Concern, Controller};
use crate::config::Mode;
use crate::orders::Order;

impl Controller {
    /// Does what an operator asks for; what to answer.
    pub(super) fn follow_order(&mut self, order: Order) -> Result<String, Failure> {
        let name = self.config.file.interface.clone();
        let refused = |what: &str| Err(Failure::failed(&name, what));
        match order {
            Order::Enforce(_) if self.config.file.mode == Mode::Enforce && self.trial.is_none() => {
                refused("the gate refuses already, and not for a while only")
            }
            Order::Enforce(time) => {
                self.change_mode(Mode::Enforce)?;
                self.trial = Some(Instant::now() + time);
                tracing::warn!("{name}: a trial of {time:?} begins");
                Ok(format!(
                    "{name}: refusing for {time:?}, then observing again; to go on: tidegated gate confirm"
                ))
            }
            Order::Confirm if self.trial.take().is_none() => {
                refused("there is no trial to confirm: tidegated gate enforce --for 10min")
            }
            Order::Confirm => {
                tracing::warn!("{name}: the trial is confirmed");
                Ok(format!(
                    "{name}: refusing until the gate ends or reads its file again; to keep it, set `mode = \"enforce\"` in {}",
                    self.path.display()
                ))
            }
            Order::Revert => {
                self.trial = None;
                self.change_mode(Mode::Observe)?;
                Ok(format!("{name}: observing; nothing is refused"))
            }
        }
    }

    fn change_mode(&mut self, mode: Mode) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.config.file.mode, mode);
        let changed = self.obey();
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
            self.placed = None;
            self.config.file.mode = Mode::Observe;
            self.report(Concern::Interface, failure.to_string());
        }
    }

    /// Prints what was observed so far.
    pub(super) fn say_progress(&self) {
        if let Some(observation) = &self.observation {
            output::say(&observation.summary());
        }
    }

    /// Prints what was observed, and writes the configuration that is suggested.
    pub(super) fn conclude(&self) -> Result<(), Failure> {
        let Some(observation) = &self.observation else { return Ok(()) };
        output::say(&observation.summary());
        if !observation.saw_something() {
            return Err(Failure::failed(&self.config.file.interface, "nothing was observed")
                .remedy("watch for longer"));
        }
        output::say(&observation.suggestion());
        let path = &observation.plan.file;
        let place = path.display();
        let open = OpenOptions::new().write(true).create_new(true).open(path);
        open.and_then(|mut file| file.write_all(observation.config().as_bytes())).at(&place)?;
        output::say(&format!(
            "written: {place}\n  run it: tidegated gate --config {place}\n  then try refusals: tidegated gate enforce --for 10min\n"
        ));
        Ok(())
    }
}
