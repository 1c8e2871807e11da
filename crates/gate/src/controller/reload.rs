//! A changed file, which a running gate takes over on SIGHUP.

use tidegate_common::fail::Failure;
use tidegate_common::output;

use super::{Concern, Controller, epochs};
use crate::config::{Config, Direction, Mode, obstacle};
use crate::placement::counts_answers;

impl Controller {
    /// Applies a changed file; an invalid one changes nothing.
    pub(super) fn reload(&mut self) {
        let trouble = match self.read_again() {
            // the gate of the other direction finds the same
            Err(failure) => {
                tracing::error!("the file is not applied, the earlier settings stay: {failure}");
                format!("reload: {failure}")
            }
            Ok(new) => match self.take_over(new) {
                Ok(()) => String::new(),
                Err(failure) => {
                    let here = self.here();
                    tracing::error!(
                        "{here}: the file is not applied here, the earlier settings stay: {failure}"
                    );
                    format!("reload: the earlier settings stay at {here}: {failure}")
                }
            },
        };
        self.report(Concern::Reload, trouble);
    }

    /// The interface, and that the other direction of the file is not concerned.
    fn here(&self) -> String {
        let name = &self.config.file.interface;
        match self.config.direction.filter(|_| self.began_with.len() > 1) {
            Some(direction) => format!("{name} ({} alone)", Direction::name(direction)),
            None => name.clone(),
        }
    }

    /// What the file has for this gate now.
    fn read_again(&self) -> Result<Config, Failure> {
        let name = self.path.display().to_string();
        let text = output::read(&self.path)?;
        let all = Config::parse(&text, &name)?;
        if let Some(failure) = obstacle(&self.began_with, &all, &text, &name) {
            return Err(failure);
        }
        let mine = all.into_iter().find(|new| new.direction == self.config.direction);
        mine.ok_or_else(|| Failure::usage(name, "the direction of this gate is gone"))
    }

    /// Applies the settings; if the kernel refuses them, those of before stay.
    fn take_over(&mut self, new: Config) -> Result<(), Failure> {
        let law_changed = self.config.law != new.law;
        let place = placement(&self.config) != placement(&new);
        let epochs = if law_changed { Some(epochs(&new)?) } else { None };
        let old = std::mem::replace(&mut self.config, new);
        // an interface that is away is waited for, with the new settings
        let replaced =
            if place && self.placed.is_some() { self.place() } else { self.apply_config() };
        if let Err(failure) = replaced {
            self.config = old;
            // a list that was written in part; if that fails too, the next renewal says so
            let _ = self.apply_config();
            return Err(failure);
        }
        self.epochs.change(self.config.file.flood, self.config.onset, self.config.tokens_keep);
        if let Some(mut epochs) = epochs {
            // the new law starts; the counts continue
            if let Some(placed) = &self.placed {
                epochs.go_on_from(placed.gate.program.tally()?.counts());
            }
            self.epochs = epochs;
        }
        self.journal.reopen(self.config.file.log.clone());
        self.shaped_again = None;
        let law = if law_changed { "a new one starts" } else { "unchanged" };
        let mode = self.config.file.mode.name();
        tracing::info!("{} applied; law: {law}; mode: {mode}", self.path.display());
        self.end_orders(old.file.mode);
        Ok(())
    }

    /// The mode is the file's now, whatever was ordered; `before` is the one that held.
    fn end_orders(&mut self, before: Mode) {
        let now = self.config.file.mode;
        let of_file = std::mem::replace(&mut self.mode_of_file, now);
        let trial = self.trial.take().is_some();
        if let Some(order) = ended(before, of_file, trial) {
            let (name, mode) = (&self.config.file.interface, now.name());
            tracing::warn!(
                "{name}: {order} ends with the reload: mode \"{mode}\", as {} says",
                self.path.display()
            );
        }
    }
}

/// The order that held until a reload: `before` is the mode that was in force, `of_file` that of the
/// file that was read last.
fn ended(before: Mode, of_file: Mode, trial: bool) -> Option<&'static str> {
    match (before, of_file) {
        _ if trial => Some("the trial of `gate enforce`"),
        (Mode::Enforce, Mode::Observe) => Some("the order `gate confirm`"),
        (Mode::Observe, Mode::Enforce) => Some("the order `gate revert`"),
        _ => None,
    }
}

/// The settings that need a new program when they change.
fn placement(config: &Config) -> impl PartialEq + use<> {
    (
        config.rules(),
        (config.file.opener, config.limiter(), config.file.quic, config.file.quic_idle),
        (config.file.ends, config.file.ends_of, config.ends_size, config.refuse_at),
        counts_answers(config),
        (config.dqm.clone(), config.shape, config.capacity, config.file.who),
        (config.file.client_ipv4, config.file.client_ipv6),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // Who confirmed refusals, or ended them, hears that a reload undoes it.
    #[test]
    fn an_order_that_a_reload_ends_is_named() {
        let (enforce, observe) = (Mode::Enforce, Mode::Observe);
        for (before, of_file, trial, said) in [
            (observe, observe, false, None),
            (enforce, enforce, false, None),
            (enforce, observe, true, Some("enforce")),
            (enforce, observe, false, Some("confirm")),
            (observe, enforce, false, Some("revert")),
        ] {
            let found = ended(before, of_file, trial);
            assert_eq!(found.is_some(), said.is_some(), "{before:?} {of_file:?}");
            assert!(found.is_none_or(|text| text.contains(said.unwrap_or_default())));
        }
    }
}
