//! The loop of a gate: one thread that renews the lease, ends epochs, handles
//! signals and answers. If it is late, the lease lapses in the kernel.

mod reload;
mod serve;
mod surroundings;
mod trial;

pub use serve::{observe, run};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use tidegate_core::law::session::Counts;
use tidegate_core::units::{Rate, Time};
use tidegate_model::law::GateLaw;
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::bypass::Bypass;
use super::claim::Claim;
use super::config::{Config, Direction, EndsOf, Mode, Quic};
use super::elsewhere::Elsewhere;
use super::ends::EndCells;
use super::epoch::{EpochResult, Epochs, QueueEpoch};
use super::hook::Hook;
use super::journal::{EpochLine, Journal};
use super::link::{Interface, Netlink};
use super::observe::Observation;
use super::placement::{Placement, cells, counts_answers};
use super::service;
use super::shared::{Fate, Tally};
use super::status::{Asked, Status};
use tidegate_common::fail::{At, Failure};

/// Renewals per lease.
const RENEWALS: u64 = 8;
/// Time between two lines of `gate observe`.
const PROGRESS: Duration = Duration::from_secs(60);
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

/// What a present error concerns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Concern {
    Reload,
    Interface,
    Shaper,
    Epoch,
    Bypass,
}

/// Waits until then; for ever without a time.
async fn reached(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// A running gate.
struct Controller {
    config: Config,
    /// All gates of the file, as they were when this one started.
    began_with: Vec<Config>,
    path: PathBuf,
    netlink: Netlink,
    placed: Option<Placement>,
    /// What the programs of before have counted: totals go on when others are loaded.
    past: Tally,
    /// Whether this gate created the clsact hook.
    made_clsact: bool,
    /// The interface where programs were placed last.
    claim: Option<Claim>,
    /// The kernel's monotonic clock less the one of this process, ns; not zero in a time namespace.
    clock_offset_ns: i64,
    /// When clients were looked at last.
    looked_at: Option<Instant>,
    /// At ingress and at egress.
    bypasses: [Bypass; 2],
    troubles: BTreeMap<Concern, String>,
    /// When refusals end unless they are confirmed.
    trial: Option<Instant>,
    /// The mode of the file; an order may have changed that of `config`.
    mode_of_file: Mode,
    /// When the shaper was put back last.
    shaped_again: Option<Instant>,
    /// When the interface was looked at last, and the bytes that had come in and left by then.
    passed_before: Option<(Instant, [u64; 2])>,
    /// Bits per second that came in and that left in the last epoch.
    rates_bps: [f64; 2],
    /// Time between the last two looks at the interface.
    epoch_length: Duration,
    observation: Option<Observation>,
    /// The other interfaces, for what is observed.
    elsewhere: Elsewhere,
    epochs: Epochs,
    journal: Journal,
    board: watch::Sender<Status>,
}

fn epochs(config: &Config) -> Result<Epochs, Failure> {
    let law = config.law.as_ref().and_then(|law| law.build());
    Epochs::start(law, ends(config), config.file.flood, config.onset, config.tokens_keep, now())
        .map_err(|fault| Failure::failed("law", fault))
}

fn ends(config: &Config) -> EndCells {
    EndCells::new(cells(config), nanoseconds(now()))
}

impl Controller {
    /// Places the programs; an interface that does not exist yet is waited for.
    fn begin(&mut self) -> Result<(), Failure> {
        let name = self.config.file.interface.clone();
        self.board.send_modify(|status| status.interface.clone_from(&name));
        let placed = self.place();
        let there = self.netlink.interface(&name).at(&name)?;
        match placed {
            Err(failure) if there.is_none() => {
                tracing::warn!("the gate waits for its interface: {failure}");
                self.report(Concern::Interface, failure.to_string());
                Ok(())
            }
            placed => placed,
        }
    }

    /// Shows a present error in the status; empty: there is none.
    fn report(&mut self, concern: Concern, trouble: String) {
        // the status and the log have a line for it
        let trouble = trouble.replace("\n  ", ": ");
        let before = if trouble.is_empty() {
            self.troubles.remove(&concern)
        } else {
            self.troubles.insert(concern, trouble)
        };
        if before.as_ref() != self.troubles.get(&concern) {
            let all: Vec<&str> = self.troubles.values().map(String::as_str).collect();
            let all = all.join("; ");
            service::trouble(&self.config.file.interface, &all);
            self.board.send_modify(|status| status.trouble = all);
        }
    }

    /// Loads the programs of the file and attaches them in the place of those of before.
    /// If that fails, those of before stay, with their shaper and their counts.
    fn place(&mut self) -> Result<(), Failure> {
        let (name, shape) = (self.config.file.interface.clone(), self.config.shape);
        let failed = |error: std::io::Error| Failure::failed(&name, error);
        let Some(interface) = self.netlink.interface(&name).map_err(failed)? else {
            return Err(Failure::failed(&name, "no such interface")
                .remedy("`ip link` lists those of this network namespace"));
        };
        if interface.ifb && self.config.looks_at_ingress() {
            return Err(Failure::failed(&name, "this is an ifb, by which nothing comes back")
                .remedy("set `ends_of = \"sender\"` for it"));
        }
        if self.claim.as_ref().map(Claim::index) != Some(interface.index) {
            self.claim = Some(Claim::take(interface.index, &name)?);
        }
        let hook = Hook::choose(self.config.file.hook);
        let makes_clsact =
            hook == Hook::Clsact && !self.netlink.has_clsact(interface.index).map_err(failed)?;
        let shaped = self.shape(&interface, shape);
        match shaped.and_then(|()| self.load_and_attach(&interface, hook)) {
            Ok(placed) => {
                self.made_clsact |= makes_clsact;
                if hook == Hook::Tcx {
                    // what a gate at clsact that was killed has left
                    self.remove_filters(interface.index);
                }
                self.board.send_modify(|status| hook.name().clone_into(&mut status.hook));
                self.keep_totals();
                if self.placed.replace(placed).is_none() {
                    // an interface that came back counts from zero
                    self.passed_before = None;
                }
                self.epochs.recount(ends(&self.config));
                self.bypasses = Default::default();
                Ok(())
            }
            Err(failure) => {
                self.restore(&interface, makes_clsact);
                Err(failure)
            }
        }
    }

    /// The programs end: what they have counted is of the past. Their maps are ours until then.
    fn keep_totals(&mut self) {
        let Some(placed) = &self.placed else { return };
        match placed.gate.program.tally() {
            Ok(tally) => self.past = self.past.with(&tally),
            Err(failure) => tracing::warn!("the totals begin anew: {failure}"),
        }
    }

    /// Sets the shaper of the interface, or removes ours.
    fn shape(&mut self, interface: &Interface, shape: Option<(Rate, u32)>) -> Result<(), Failure> {
        let name = &self.config.file.interface;
        let Some((rate, buffer)) = shape else {
            return self.netlink.unshape(interface.index).at(name);
        };
        self.netlink.shape(interface, rate, buffer).map_err(|error| {
            Failure::failed(format!("{name}: shape = \"{rate}\""), error)
                .remedy(
                    "if that queue limits the rate, set `capacity` to its rate in place of `shape`; else remove it: tc qdisc del dev ... root",
                )
        })
    }

    fn load_and_attach(&mut self, interface: &Interface, hook: Hook) -> Result<Placement, Failure> {
        let queue = self
            .netlink
            .queue(interface.index)
            .at(&self.config.file.interface)?
            .unwrap_or_default();
        let knobs = self.epochs.in_force();
        let mut placed = Placement::load(&self.config, interface.clone(), queue, &knobs)?;
        let kernel = placed.gate.kernel_clock()?;
        self.clock_offset_ns = kernel.cast_signed() - nanoseconds(now()).cast_signed();
        placed.apply(&self.config, self.lease_ns())?;
        let there = self.netlink.filters(interface.index).at(&self.config.file.interface)?;
        placed.attach(&self.config, (hook, &there), self.placed.as_mut())?;
        Ok(placed)
    }

    /// Puts the interface back as it was before an attempt that failed.
    fn restore(&mut self, interface: &Interface, makes_clsact: bool) {
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
        if makes_clsact && let Err(error) = self.netlink.remove_empty_clsact(interface.index) {
            tracing::debug!("clsact: {error}");
        }
    }

    /// Until when a lease that begins now lasts, by the kernel's clock.
    fn lease_ns(&self) -> u64 {
        let until = nanoseconds(now().saturating_add(self.config.file.lease));
        until.saturating_add_signed(self.clock_offset_ns)
    }

    /// Writes to the running programs what they can take over from the file.
    fn apply_config(&mut self) -> Result<(), Failure> {
        let until = self.lease_ns();
        self.placed.as_mut().map_or(Ok(()), |placed| placed.apply(&self.config, until))
    }

    /// Logs the limits of this setup.
    fn announce(&self) {
        let Some(placed) = &self.placed else { return };
        let (name, kind) = (&self.config.file.interface, &placed.queue.kind);
        if self.config.file.mode == Mode::Observe {
            tracing::info!("{name}: observe mode: nothing is refused, so the law runs open-loop");
            if let Some((rate, _)) = self.config.shape {
                tracing::warn!(
                    "{name}: `shape` holds in observe mode too: what comes faster than {rate}/s waits here, and is lost beyond the buffer; to change nothing, write `capacity` in its place"
                );
            }
        }
        if self.config.file.ends_of == EndsOf::Sender
            && matches!(self.config.law, Some(GateLaw::CloseProbe(_)))
        {
            tracing::warn!(
                "{name}: close-probe measures how many sessions end; with `ends_of = \"sender\"` the ends that it sees come before the data is delivered, and it refuses next to nobody: use `tide`"
            );
        }
        if self.observation.is_some() {
            // what follows from the queue is said at the end, with the rest of the advice
        } else if !placed.queue.holds_packets() {
            let relieved = matches!(&self.config.law, Some(GateLaw::CloseProbe(law)) if law.relief);
            let follows = if relieved { ": with `relief` nothing is ever refused" } else { "" };
            tracing::warn!(
                "{name} has no queue, so no packet waits or is dropped here{follows}; set `shape` to move the queue here"
            );
        } else if !placed.queue.tells_its_length() {
            tracing::warn!(
                "{name}: the length of a {kind} queue is read a few times a second only"
            );
        }
        tracing::info!(
            "{name}: at {}, {} bytes of kernel memory at most",
            self.board.borrow().hook,
            placed.gate.program.map_bytes()
        );
    }

    /// Runs until SIGTERM or SIGINT.
    async fn keep(
        &mut self,
        [mut hangup, mut terminate, mut interrupt]: [Signal; 3],
        inbox: &mut mpsc::Receiver<Asked>,
    ) {
        let began = Instant::now();
        let length = self.observation.as_ref().and_then(|observation| observation.plan.length);
        let end = length.map(|length| began + length);
        let mut progress = began + PROGRESS;
        let period = Duration::from_nanos(nanoseconds(self.config.file.lease) / RENEWALS);
        let mut renewal = Instant::now();
        loop {
            let left = self.epochs.deadline().saturating_sub(now());
            let epoch = Instant::now() + Duration::from_nanos(nanoseconds(left));
            tokio::select! {
                biased;
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hangup.recv() => self.reload(),
                () = reached(end) => return,
                () = reached(self.observation.as_ref().map(|_| progress)) => {
                    progress += PROGRESS;
                    self.say_progress();
                }
                () = reached(self.trial) => self.end_trial(),
                Some((order, answer)) = inbox.recv() => {
                    // the client may be gone
                    let _ = answer.send(self.follow_order(order));
                }
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
        service::alive();
        let (good, trouble) = match self.try_renew() {
            Ok(note) => (true, note),
            Err(failure) => {
                self.keep_totals();
                if self.placed.take().is_some() {
                    // the next programs count from zero
                    self.epochs.recount(ends(&self.config));
                    tracing::warn!("{failure}; trying again every second, everything passes");
                }
                (false, failure.to_string())
            }
        };
        self.report(Concern::Interface, trouble);
        let attached = self.placed.is_some();
        self.board.send_if_modified(|status| {
            if !attached {
                status.clients.clear();
            }
            std::mem::replace(&mut status.attached, attached) != attached
        });
        good
    }

    /// Renews the lease; a note, if the interface is not called as in the file.
    fn try_renew(&mut self) -> Result<String, Failure> {
        if self.placed.is_none() {
            // the hook is gone with the interface
            self.made_clsact = false;
            self.place()?;
            tracing::info!("{}: attached again", self.config.file.interface);
        }
        let note = self.follow()?;
        let until = self.lease_ns();
        let name = &self.config.file.interface;
        let Some(placed) = &mut self.placed else { return Ok(note) };
        let failed = |error: std::io::Error| Failure::failed(name, error);
        if !placed.stands() {
            return Err(Failure::failed(name, "the program was removed or replaced"));
        }
        let queue = self.netlink.queue(placed.interface.index).map_err(failed)?.unwrap_or_default();
        placed.fewest = Some(placed.fewest.unwrap_or(u32::MAX).min(queue.waiting));
        placed.renew(until)?;
        self.keep_shaper(&queue);
        Ok(note)
    }

    fn end_epoch(&mut self) {
        let ended = self.try_end_epoch();
        if let Err(failure) = &ended {
            tracing::warn!("{failure}");
        }
        self.report(Concern::Epoch, ended.err().map_or(String::new(), |it| it.to_string()));
    }

    fn try_end_epoch(&mut self) -> Result<(), Failure> {
        let rate = self.config.capacity.unwrap_or(UNKNOWN);
        let read = self.read_epoch();
        let outcome = self.epochs.end(now(), read, rate)?;
        let Some(placed) = &mut self.placed else { return Ok(()) };
        placed.gate.set_knobs(&self.epochs.in_force())?;
        if self.epochs.ends.rotate(nanoseconds(now())) {
            placed.gate.next_generation()?;
        }
        self.look_at_interface()?;
        self.write_down(&outcome)?;
        self.observe(outcome.judged)?;
        // last: without this view the epoch is in log, status and metrics all the same
        self.look_at_clients()
    }

    /// The counts of the program, and what the queue did in the epoch; zero without an interface.
    fn read_epoch(&mut self) -> Result<(Counts, QueueEpoch), Failure> {
        let Some(placed) = &mut self.placed else { return Ok(Default::default()) };
        if self.config.file.quic == Quic::Admit {
            placed.gate.sweep()?;
        }
        let tally = placed.gate.program.tally()?;
        let queue = self
            .netlink
            .queue(placed.interface.index)
            .at(&self.config.file.interface)?
            .unwrap_or_default();
        let observed = placed.gate.program.take_observed()?;
        let mut fewest = placed.fewest.take().unwrap_or(queue.waiting);
        if observed.seen != 0 {
            fewest = fewest.min(observed.min_queue);
        }
        let (passed, admitted) = (tally.passed(), tally.admitted);
        let refused_behind = (admitted - placed.admitted_before)
            .saturating_sub(passed.saturating_sub(placed.passed_before));
        let answered =
            counts_answers(&self.config).then(|| tally.answered - placed.answered_before);
        let idle_ended = tally.idle_ended - placed.idle_before;
        let between = QueueEpoch::between(&placed.queue, &queue, fewest);
        let ended = QueueEpoch { refused_behind, answered, idle_ended, ..between };
        placed.idle_before = tally.idle_ended;
        (placed.passed_before, placed.admitted_before) = (passed, admitted);
        placed.queue = queue;
        placed.answered_before = tally.answered;
        Ok((tally.counts(), ended))
    }

    /// Updates the log, the status and the metrics.
    fn write_down(&mut self, outcome: &EpochResult) -> Result<(), Failure> {
        let Some(placed) = &self.placed else { return Ok(()) };
        let (tally, queue) = (self.past.with(&placed.gate.program.tally()?), outcome.queue);
        let connections =
            self.config.dqm.as_ref().map(|_| (tally.asked, tally.of(Fate::Connection)));
        let decided = outcome.decision;
        let set = decided
            .map(|decision| decision.set)
            .filter(|set| set.is_finite() && !outcome.alarm && outcome.obeyed);
        let mode = self.config.file.mode.name();
        let phase = decided.map_or("", |decision| decision.phase);
        let epoch = self.board.borrow().epochs + 1;
        self.journal.write(&EpochLine {
            interface: self.config.file.interface.clone(),
            direction: self.config.direction.map(Direction::name),
            at_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |at| at.as_secs_f64()),
            epoch,
            mode,
            phase,
            set,
            from: decided.map(|decision| decision.from),
            arrived: outcome.counts.arrived,
            admitted: outcome.passed(),
            departed: outcome.counts.departed,
            resets: outcome.counts.resets,
            sent: queue.sent,
            sent_bytes: queue.bytes,
            drops: queue.drops,
            min_queue: queue.min_waiting,
            alarm: outcome.alarm,
            obeyed: outcome.obeyed,
            judged: outcome.judged,
        });
        let (config, lost) = (&self.config, self.journal.lost);
        let [received_bps, rate_bps] = self.rates_bps;
        let trial_s = self.trial_left();
        self.board.send_modify(|status| {
            status.attached = true;
            status.name_settings(config);
            if outcome.judged {
                (status.phase, status.set) = (phase.to_owned(), set);
                status.from = decided.map(|decision| decision.from);
            }
            status.epochs = epoch;
            (status.arrived, status.admitted) = (outcome.counts.arrived, outcome.passed());
            (status.departed, status.resets) = (outcome.counts.departed, outcome.counts.resets);
            status.count_queue(&queue, rate_bps);
            status.received_bps = received_bps;
            status.trial_s = trial_s;
            status.queue.clone_from(&placed.queue.kind);
            status.count(&tally);
            (status.connections, status.alarm, status.log_lost) =
                (connections, outcome.alarm, lost);
            status.map_bytes = placed.gate.program.map_bytes();
        });
        Ok(())
    }
}
