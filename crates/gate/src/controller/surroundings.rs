//! What a gate notices at its interface, and how it leaves it.

use std::time::Duration;

use tidegate_common::fail::{At, Failure};
use tokio::time::Instant;

use super::{Concern, Controller};
use crate::filters::InterfaceSide;
use crate::hook::Hook;
use crate::link::{Queue, Traffic};
use crate::shared::Tally;
use crate::who;

/// How often clients are looked at.
const LOOK_AT_CLIENTS: Duration = Duration::from_secs(2);
/// Time from one return of the shaper to the next.
const SHAPE_AGAIN: Duration = Duration::from_secs(60);

impl Controller {
    /// Follows the interface: its name may change, and its MTU, which the shaper must let pass.
    pub(super) fn follow(&mut self) -> Result<String, Failure> {
        let name = self.config.file.interface.clone();
        let failed = |error: std::io::Error| Failure::failed(&name, error);
        let Some(placed) = &mut self.placed else { return Ok(String::new()) };
        let Some(there) = self.netlink.interface_at(placed.interface.index).map_err(failed)? else {
            return Err(Failure::failed(&name, "the interface is gone"));
        };
        let (mtu, called) = (there.mtu, there.name.clone());
        if mtu != placed.interface.mtu {
            let ours =
                self.netlink.queue(there.index).map_err(failed)?.is_some_and(|it| it.is_ours());
            // the queue of another program in its place is not a reason to stop
            if let Some((rate, buffer)) = placed.shape.filter(|_| ours) {
                self.netlink.shape(&there, rate, buffer).map_err(failed)?;
            }
            tracing::info!("{name}: the MTU is {mtu} now");
        }
        placed.interface = there;
        if called == name {
            return Ok(String::new());
        }
        if self.netlink.interface(&name).map_err(failed)?.is_some() {
            self.leave();
            return Err(Failure::failed(&name, "another interface has this name now"));
        }
        let note = format!("{name}: the interface is called {called} now, and the gate is there");
        if !self.troubles.contains_key(&Concern::Interface) {
            tracing::warn!("{note}; set `interface` to its name and restart the gate");
        }
        Ok(note)
    }

    /// Puts the shaper back where it was removed. Who removes it again within a minute wants it gone
    /// perhaps, and two programs that undo each other's work would lose packets at each turn.
    pub(super) fn keep_shaper(&mut self, there: &Queue) {
        let trouble = self.shaper_trouble(there);
        if !trouble.is_empty() && !self.troubles.contains_key(&Concern::Shaper) {
            tracing::warn!("{trouble}");
        }
        self.report(Concern::Shaper, trouble);
    }

    /// What keeps the shaper from holding; empty: nothing does.
    fn shaper_trouble(&mut self, there: &Queue) -> String {
        let Some(placed) = self.placed.as_ref().filter(|placed| placed.shape.is_some()) else {
            return String::new();
        };
        let (interface, shape) = (placed.interface.clone(), placed.shape);
        let name = &self.config.file.interface;
        if there.is_ours() {
            return String::new();
        }
        if there.handle != 0 {
            return format!(
                "{name}: another queue ({}) stands in the place of the shaper, so `shape` does not hold; remove that queue (tc qdisc del dev {name} root), or write its rate as `capacity` in place of `shape`",
                there.kind
            );
        }
        if self.shaped_again.is_some_and(|at| at.elapsed() < SHAPE_AGAIN) {
            return format!(
                "{name}: the shaper was removed again, so `shape` does not hold; find what removes it, or write `capacity` in place of `shape`; the gate puts it back once a minute, and after a reload (SIGHUP)"
            );
        }
        if let Err(failure) = self.shape(&interface, shape) {
            return format!("the shaper was removed, and cannot be put back: {failure}");
        }
        self.shaped_again = Some(Instant::now());
        let name = &self.config.file.interface;
        tracing::warn!("{name}: the shaper was removed; it is put back");
        String::new()
    }

    /// Measures the rate of the interface, and compares what it counted with what the programs saw.
    pub(super) fn look_at_interface(&mut self) -> Result<(), Failure> {
        let name = self.config.file.interface.clone();
        let Some(placed) = &self.placed else { return Ok(()) };
        let index = placed.interface.index;
        let tally: Tally = placed.gate.program.tally()?;
        let Some(there) = self.netlink.interface_at(index).at(&name)? else { return Ok(()) };
        let now = (Instant::now(), [there.received.bytes, there.sent.bytes]);
        let mut left = 0;
        if let Some((then, before)) = self.passed_before.replace(now) {
            self.epoch_length = now.0.saturating_duration_since(then);
            let passed = self.epoch_length.as_secs_f64().max(1e-3);
            // some drivers count anew when the interface is set up again
            let grown = |side: usize| now.1[side].checked_sub(before[side]).unwrap_or(now.1[side]);
            self.rates_bps = [0, 1].map(|side| 8.0 * grown(side) as f64 / passed);
            left = grown(1);
        }
        let seen = [tally.incoming_bytes, tally.bytes.iter().sum()];
        let passed: [Traffic; 2] = [there.received, there.sent];
        let mut trouble = Vec::new();
        for (at, side) in InterfaceSide::ALL.into_iter().enumerate() {
            if side == InterfaceSide::Ingress && !self.config.looks_at_ingress() {
                continue;
            }
            self.bypasses[at].epoch(passed[at], seen[at]);
            if let Some(share) = self.bypasses[at].share() {
                let first = self.first_of_others(index, side)?;
                let percent = 100.0 * share;
                trouble.push(format!(
                    "{name}: the gate does not see {percent:.0} % of the bytes at {side}{first}"
                ));
            }
        }
        let shares = self.bypasses.map(|bypass| bypass.share().unwrap_or(0.0));
        let trouble = trouble.join("; ");
        if !trouble.is_empty() && !self.troubles.contains_key(&Concern::Bypass) {
            tracing::warn!("{trouble}");
        }
        let epoch_s = self.epoch_length.as_secs_f64();
        self.board.send_modify(|status| {
            status.bypassed_share = shares[0].max(shares[1]);
            // not its own count: one that is made anew counts from zero
            status.sent_bytes += left;
            status.epoch_s = epoch_s;
        });
        self.report(Concern::Bypass, trouble);
        Ok(())
    }

    /// Adds the epoch to what is observed, where something is.
    pub(super) fn observe(&mut self, judged: bool) -> Result<(), Failure> {
        let (Some(observation), Some(placed)) = (&mut self.observation, &self.placed) else {
            return Ok(());
        };
        let index = placed.interface.index;
        let others = self.elsewhere.epoch(&mut self.netlink, index);
        let others = others.at(&self.config.file.interface)?;
        if judged {
            observation.epoch(&self.board.borrow(), self.epoch_length, &others);
        }
        Ok(())
    }

    /// Shows clients in the status, where the file asks for it and it is time to look.
    pub(super) fn look_at_clients(&mut self) -> Result<(), Failure> {
        if !self.config.file.who {
            self.board.send_modify(|status| status.clients.clear());
            return Ok(());
        }
        let due = self.looked_at.is_none_or(|at| at.elapsed() >= LOOK_AT_CLIENTS);
        let Some(placed) = self.placed.as_ref().filter(|_| due) else { return Ok(()) };
        self.looked_at = Some(Instant::now());
        let bits = (self.config.file.client_ipv4, self.config.file.client_ipv6);
        let now_ns = placed.gate.kernel_clock()?;
        let clients = who::shown(&placed.gate.whose()?, bits, now_ns);
        self.board.send_modify(|status| status.clients = clients);
        Ok(())
    }

    /// Names what decides before the gate on that side, if there is such a thing: a program at tcx,
    /// which comes before all filters, or a filter.
    fn first_of_others(&mut self, index: i32, side: InterfaceSide) -> Result<String, Failure> {
        if let Some(id) = self.placed.as_ref().and_then(|placed| placed.runs_first(side)) {
            return Ok(format!(": the BPF program {id} at {side} decides first"));
        }
        if Hook::choose(self.config.file.hook) == Hook::Tcx {
            return Ok(String::new());
        }
        let filters = self.netlink.filters(index).at(&self.config.file.interface)?;
        Ok(filters
            .iter()
            .filter(|filter| filter.side == side && !filter.is_ours())
            .find(|filter| filter.priority < self.config.file.priority)
            .map_or(String::new(), |filter| format!(": a {filter} decides first")))
    }

    /// Removes the programs, clsact and the shaper if this gate created them.
    pub(super) fn leave(&mut self) {
        if let Some(placed) = self.placed.take() {
            placed.detach();
        }
        let Some(claim) = self.claim.take() else { return };
        let index = claim.index();
        self.remove_filters(index);
        if self.made_clsact
            && let Err(error) = self.netlink.remove_empty_clsact(index)
        {
            tracing::warn!("clsact cannot be removed: {error}");
        }
        if self.config.shape.is_some()
            && let Err(error) = self.netlink.unshape(index)
        {
            tracing::warn!("the shaper cannot be removed: {error}");
        }
    }

    /// Removes the filters that an attempt to put them back has left.
    pub(super) fn remove_filters(&mut self, index: i32) {
        let mine = [self.config.file.priority, self.config.file.priority + 1];
        for filter in self.netlink.filters(index).unwrap_or_default() {
            if filter.is_ours()
                && mine.contains(&filter.priority)
                && let Err(error) = self.netlink.remove_filter(index, &filter)
            {
                tracing::warn!("the {filter} cannot be removed: {error}");
            }
        }
    }
}
