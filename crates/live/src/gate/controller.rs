//! The loop of a gate: one thread that renews the lease, ends epochs, handles
//! signals and answers. If it is late, the lease lapses in the kernel.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use tidegate_core::law::session::Counts;
use tidegate_core::units::{Rate, Time};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::config::{Config, Mode};
use super::ends::Ends;
use super::epoch::{Epochs, Flow, Outcome};
use super::journal::{Journal, Line};
use super::link::{Interface, Netlink};
use super::placement::{Placement, cells};
use super::shared::Fate;
use super::status::Status;
use super::{metrics, privileges, program, status};
use crate::fail::{At, Failure};

/// Renewals per lease.
const RENEWALS: u64 = 8;
/// Wait before the next look for a missing interface.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Stands for an unknown link rate, for laws that do not use it.
const UNKNOWN: Rate = Rate::from_bps(1_000_000_000_000);

/// The monotonic clock, which the programs read too.
fn now() -> Time {
    let time = clock_gettime(ClockId::Monotonic);
    Time::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn nanoseconds(time: Time) -> u64 {
    time.ps() / 1_000
}

/// A running gate.
struct Controller {
    config: Config,
    path: PathBuf,
    netlink: Netlink,
    placed: Option<Placement>,
    /// Whether this gate created the clsact hook.
    made_clsact: bool,
    epochs: Epochs,
    journal: Journal,
    board: watch::Sender<Status>,
}

/// Runs the gate of a file until SIGTERM or SIGINT.
///
/// # Errors
/// It cannot start: the file, the interface, the kernel. Later errors are reported, and the gate goes on.
pub fn run(path: &Path) -> Result<(), Failure> {
    let config = Config::read(path)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .at("tokio")?
        .block_on(start(config, path))
}

async fn start(config: Config, path: &Path) -> Result<(), Failure> {
    program::quiet();
    let (board, seen) = watch::channel(Status::default());
    let listen = |kind| signal(kind).at("signals");
    let signals = [
        listen(SignalKind::hangup())?,
        listen(SignalKind::terminate())?,
        listen(SignalKind::interrupt())?,
    ];
    let served = status::serve(&config.socket, seen.clone())?;
    if let Some(address) = config.metrics {
        metrics::serve(address, seen).await?;
    }
    let netlink = Netlink::open().at("netlink")?;
    let epochs = epochs(&config)?;
    let journal = Journal::new(config.log.clone());
    let path = path.to_owned();
    let mut controller = Controller {
        config,
        path,
        netlink,
        placed: None,
        made_clsact: false,
        epochs,
        journal,
        board,
    };
    controller.place()?;
    privileges::drop_to_what_is_needed()?;
    controller.announce();
    controller.keep(signals).await;
    controller.leave();
    drop(served);
    Ok(())
}

fn epochs(config: &Config) -> Result<Epochs, Failure> {
    let law = config.law.as_ref().and_then(|law| law.build());
    Epochs::start(law, ends(config), config.flood, config.onset, config.tokens_keep, now())
        .map_err(|fault| Failure::failed("law", fault))
}

fn ends(config: &Config) -> Ends {
    Ends::new(cells(config), nanoseconds(now()))
}

impl Controller {
    /// Loads the programs of the file and attaches them in the place of those of before.
    /// If that fails, those of before stay, with their shaper and their counts.
    fn place(&mut self) -> Result<(), Failure> {
        let (name, shape) = (self.config.interface.clone(), self.config.shape);
        let failed = |error: std::io::Error| Failure::failed(&name, error);
        let Some(interface) = self.netlink.interface(&name).map_err(failed)? else {
            return Err(Failure::failed(&name, "no such interface")
                .remedy("`ip link` lists those of this network namespace"));
        };
        let had_clsact = self.netlink.has_clsact(interface.index).map_err(failed)?;
        let placed = self.shape(&interface, shape).and_then(|()| self.load_and_attach(&interface));
        match placed {
            Ok(placed) => {
                self.made_clsact |= !had_clsact;
                self.placed = Some(placed);
                self.epochs.recount(ends(&self.config));
                Ok(())
            }
            Err(failure) => {
                self.restore(&interface, had_clsact);
                Err(failure)
            }
        }
    }

    /// Sets the shaper of the interface, or removes ours.
    fn shape(&mut self, interface: &Interface, shape: Option<(Rate, u32)>) -> Result<(), Failure> {
        let name = &self.config.interface;
        let Some((rate, buffer)) = shape else {
            return self.netlink.unshape(interface.index).at(name);
        };
        self.netlink.shape(interface, rate, buffer).map_err(|error| {
            Failure::failed(format!("{name}: shape = \"{rate}\""), error)
                .remedy("remove the queue of the interface first: tc qdisc del dev ... root")
        })
    }

    fn load_and_attach(&mut self, interface: &Interface) -> Result<Placement, Failure> {
        let queue =
            self.netlink.queue(interface.index).at(&self.config.interface)?.unwrap_or_default();
        let knobs = self.epochs.in_force();
        let mut placed = Placement::load(&self.config, interface.clone(), queue, &knobs)?;
        placed.obey(&self.config, self.lease_ns())?;
        placed.attach(&self.config, self.placed.as_mut())?;
        Ok(placed)
    }

    /// Puts the interface back as it was before an attempt that failed.
    fn restore(&mut self, interface: &Interface, had_clsact: bool) {
        let before = self.placed.as_ref().and_then(|placed| placed.shape);
        if before != self.config.shape {
            if let Err(failure) = self.shape(interface, before) {
                tracing::warn!("the shaper of before is not put back: {failure}");
            }
            // the counters of a new queue begin at zero
            if let (Some(placed), Ok(Some(queue))) =
                (&mut self.placed, self.netlink.queue(interface.index))
            {
                placed.queue = queue;
            }
        }
        if !had_clsact && let Err(error) = self.netlink.remove_empty_clsact(interface.index) {
            tracing::debug!("clsact: {error}");
        }
    }

    /// Until when a lease that begins now lasts.
    fn lease_ns(&self) -> u64 {
        nanoseconds(now().saturating_add(self.config.lease))
    }

    /// Writes to the running programs what they can take over from the file.
    fn obey(&mut self) -> Result<(), Failure> {
        let until = self.lease_ns();
        self.placed.as_mut().map_or(Ok(()), |placed| placed.obey(&self.config, until))
    }

    /// Logs the limits of this setup.
    fn announce(&self) {
        let Some(placed) = &self.placed else { return };
        let (name, kind) = (&self.config.interface, &placed.queue.kind);
        if self.config.mode == Mode::Observe {
            tracing::info!("{name}: observe mode: nothing is refused, so the law runs open-loop");
        }
        if !placed.queue.holds_packets() {
            tracing::warn!(
                "{name} has no queue, so no packet waits or is dropped here: with `relief` nothing is ever refused; set `shape` to move the queue here"
            );
        } else if !placed.queue.tells_its_length() {
            tracing::warn!(
                "{name}: the length of a {kind} queue is read a few times a second only"
            );
        }
        tracing::info!(
            "{name}: {} bytes of kernel memory at most",
            placed.gate.program.map_bytes()
        );
    }

    /// Runs until SIGTERM or SIGINT.
    async fn keep(&mut self, [mut hangup, mut terminate, mut interrupt]: [Signal; 3]) {
        let period = Duration::from_nanos(nanoseconds(self.config.lease) / RENEWALS);
        let mut renewal = Instant::now();
        loop {
            let left = self.epochs.deadline().saturating_sub(now());
            let epoch = Instant::now() + Duration::from_nanos(nanoseconds(left));
            tokio::select! {
                biased;
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hangup.recv() => self.reload(),
                () = sleep_until(renewal) => {
                    let good = self.renew();
                    renewal = Instant::now() + if good { period } else { LOOK_AGAIN };
                }
                () = sleep_until(epoch) => self.end_epoch(),
            }
        }
    }

    /// Renews the lease and reads the queue; whether the programs are attached.
    fn renew(&mut self) -> bool {
        let trouble = match self.try_renew() {
            Ok(()) => String::new(),
            Err(failure) => {
                if self.placed.take().is_some() {
                    // the next programs count from zero
                    self.epochs.recount(ends(&self.config));
                    tracing::warn!("{failure}; trying again every second, everything passes");
                }
                failure.to_string()
            }
        };
        let good = trouble.is_empty();
        let attached = self.placed.is_some();
        self.board.send_if_modified(|status| {
            let changed = status.attached != attached || (!good && status.trouble != trouble);
            status.attached = attached;
            if !good {
                status.trouble = trouble;
            } else if status.trouble.starts_with(&self.config.interface) {
                status.trouble.clear();
            }
            changed
        });
        good
    }

    fn try_renew(&mut self) -> Result<(), Failure> {
        if self.placed.is_none() {
            // the hook is gone with the interface
            self.made_clsact = false;
            self.place()?;
            tracing::info!("{}: attached again", self.config.interface);
        }
        let until = self.lease_ns();
        let name = &self.config.interface;
        let Some(placed) = &mut self.placed else { return Ok(()) };
        let failed = |error: std::io::Error| Failure::failed(name, error);
        let there = self.netlink.interface(name).map_err(failed)?;
        if there.as_ref().map(|there| there.index) != Some(placed.interface.index) {
            return Err(Failure::failed(name, "the interface is gone"));
        }
        if !placed.stands() {
            return Err(Failure::failed(name, "the filter was removed or replaced"));
        }
        let queue = self.netlink.queue(placed.interface.index).map_err(failed)?.unwrap_or_default();
        placed.fewest = Some(placed.fewest.unwrap_or(u32::MAX).min(queue.waiting));
        placed.renew(until)
    }

    fn end_epoch(&mut self) {
        if let Err(failure) = self.try_end_epoch() {
            tracing::warn!("{failure}");
            let trouble = failure.to_string();
            self.board.send_modify(|status| status.trouble = trouble);
        }
    }

    fn try_end_epoch(&mut self) -> Result<(), Failure> {
        let rate = self.config.capacity.unwrap_or(UNKNOWN);
        let read = self.read_epoch();
        let outcome = self.epochs.end(now(), read, rate)?;
        let Some(placed) = &mut self.placed else { return Ok(()) };
        placed.gate.turn(&self.epochs.in_force())?;
        if self.epochs.ends.turn(nanoseconds(now())) {
            placed.gate.next_generation()?;
        }
        self.write_down(&outcome)
    }

    /// The counts of the program, and what the queue did in the epoch; zero without an interface.
    fn read_epoch(&mut self) -> Result<(Counts, Flow), Failure> {
        let Some(placed) = &mut self.placed else { return Ok(Default::default()) };
        let tally = placed.gate.program.tally()?;
        let queue = self
            .netlink
            .queue(placed.interface.index)
            .at(&self.config.interface)?
            .unwrap_or_default();
        let observed = placed.gate.program.take_observed()?;
        let mut fewest = placed.fewest.take().unwrap_or(queue.waiting);
        if observed.seen != 0 {
            fewest = fewest.min(observed.min_queue);
        }
        let flow = Flow::between(&placed.queue, &queue, fewest);
        placed.queue = queue;
        Ok((tally.counts(), flow))
    }

    /// Updates the log, the status and the metrics.
    fn write_down(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let Some(placed) = &self.placed else { return Ok(()) };
        let (tally, flow) = (placed.gate.program.tally()?, outcome.flow);
        let connections = match &placed.dqm {
            Some(dqm) => {
                let tally = dqm.program.tally()?;
                Some((tally.arrived, tally.of(Fate::Connection)))
            }
            None => None,
        };
        let decided = outcome.decision;
        let set = decided
            .map(|decision| decision.set)
            .filter(|set| set.is_finite() && !outcome.alarm && outcome.obeyed);
        let mode = if self.config.mode == Mode::Enforce { "enforce" } else { "observe" };
        let phase = decided.map_or("", |decision| decision.phase);
        let epoch = self.board.borrow().epochs + 1;
        self.journal.write(&Line {
            at_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |at| at.as_secs_f64()),
            epoch,
            mode,
            phase,
            set,
            from: decided.map(|decision| decision.from),
            arrived: outcome.counts.arrived,
            admitted: outcome.counts.admitted,
            departed: outcome.counts.departed,
            resets: outcome.counts.resets,
            sent: flow.sent,
            sent_bytes: flow.bytes,
            drops: flow.drops,
            min_queue: flow.min_waiting,
            alarm: outcome.alarm,
            obeyed: outcome.obeyed,
            judged: outcome.judged,
        });
        let (config, lost) = (&self.config, self.journal.lost);
        self.board.send_modify(|status| {
            status.interface.clone_from(&config.interface);
            status.attached = true;
            status.mode = mode.to_owned();
            status.law = config.law.as_ref().map_or("none", |law| law.name()).to_owned();
            if outcome.judged {
                (status.phase, status.set) = (phase.to_owned(), set);
                status.from = decided.map(|decision| decision.from);
            }
            status.epochs = epoch;
            (status.arrived, status.admitted) = (outcome.counts.arrived, outcome.counts.admitted);
            (status.departed, status.resets) = (outcome.counts.departed, outcome.counts.resets);
            (status.drops, status.waiting) = (flow.drops, flow.waiting);
            status.queue.clone_from(&placed.queue.kind);
            status.count(&tally);
            (status.connections, status.alarm, status.log_lost) =
                (connections, outcome.alarm, lost);
            status.map_bytes = placed.gate.program.map_bytes();
        });
        Ok(())
    }

    /// Applies a changed file; an invalid one changes nothing.
    fn reload(&mut self) {
        let trouble = match self.try_reload() {
            Ok(()) => String::new(),
            Err(failure) => {
                tracing::error!("the file is not applied, the earlier settings stay: {failure}");
                format!("reload: {failure}")
            }
        };
        self.board.send_modify(|status| status.trouble = trouble);
    }

    fn try_reload(&mut self) -> Result<(), Failure> {
        let new = Config::read(&self.path)?;
        if let Some(key) = self.config.fixed_difference(&new) {
            let what = format!("{key}: a running gate cannot change this");
            return Err(Failure::usage(self.path.display(), what).remedy("restart the gate"));
        }
        let law_changed = self.config.law != new.law;
        let place = placement(&self.config) != placement(&new);
        let old = std::mem::replace(&mut self.config, new);
        let epochs = if law_changed { Some(epochs(&self.config)?) } else { None };
        let replaced = if place { self.place() } else { self.obey() };
        if let Err(failure) = replaced {
            self.config = old;
            // a list that was written in part; if that fails too, the next renewal says so
            let _ = self.obey();
            return Err(failure);
        }
        self.epochs.change(self.config.flood, self.config.onset, self.config.tokens_keep);
        if let Some(mut epochs) = epochs {
            // the new law starts; the counts continue
            if let Some(placed) = &self.placed {
                epochs.go_on_from(placed.gate.program.tally()?.counts());
            }
            self.epochs = epochs;
        }
        self.journal.reopen(self.config.log.clone());
        let law = if law_changed { "a new one starts" } else { "unchanged" };
        tracing::info!("{} applied; law: {law}", self.path.display());
        Ok(())
    }

    /// Removes the programs, clsact and the shaper if this gate created them.
    fn leave(&mut self) {
        let Some(placed) = self.placed.take() else { return };
        let index = placed.interface.index;
        placed.detach();
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
}

/// The settings that need a new program when they change.
fn placement(config: &Config) -> impl PartialEq + use<> {
    (
        config.rules(),
        (config.opener, config.limiter(), config.quic),
        (config.ends, config.ends_of, config.ends_size),
        (config.dqm.clone(), config.shape, config.capacity),
    )
}
