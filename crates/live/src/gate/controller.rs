//! The loop of a gate: one thread that renews the lease, ends epochs, obeys
//! signals and answers. What it does not come to do in time lapses in the kernel.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use tidegate_core::law::queue::Average;
use tidegate_core::law::queue::dual_queue::{Curve, Measure};
use tidegate_core::law::session::Limiter;
use tidegate_core::law::settings::Link;
use tidegate_core::units::{Rate, Time};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::config::{self, Config, EndsOf, Mode, Opens, Quic};
use super::ends::Ends;
use super::epoch::{Epochs, Flow, Outcome};
use super::journal::{Journal, Line};
use super::link::{Interface, Netlink, Queue};
use super::program::{Attached, Dqm, Gate};
use super::shared::{Fate, Settings};
use super::status::Status;
use super::{metrics, privileges, program, status};
use crate::fail::Failure;

/// How often the lease is renewed while it lasts.
const RENEWALS: u64 = 8;
/// How long to wait before looking again for an interface that is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// A link of unknown rate, for laws that do not ask for it.
const UNKNOWN: Rate = Rate::from_bps(1_000_000_000_000);

/// The clock that the programs read too.
fn now() -> Time {
    let time = clock_gettime(ClockId::Monotonic);
    Time::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn nanoseconds(time: Time) -> u64 {
    time.ps() / 1_000
}

/// The programs at an interface.
struct Placed {
    interface: Interface,
    gate: Gate,
    gate_hook: Attached,
    ends_hook: Option<Attached>,
    dqm: Option<(Dqm, Attached)>,
    made_clsact: bool,
    /// The queue as it was when the epoch began, and fewest waiting in it since.
    queue: Queue,
    fewest: u32,
    seen_fewest: bool,
}

impl Placed {
    /// Whether all filters are still there, and still ours.
    fn stands(&mut self) -> bool {
        let dqm = self.dqm.as_mut().map(|(_, hook)| hook);
        let besides = self.ends_hook.as_mut().into_iter().chain(dqm);
        besides.chain([&mut self.gate_hook]).all(Attached::stands)
    }

    /// Takes the filters away.
    fn detach(self) {
        let besides = self.ends_hook.into_iter().chain(self.dqm.map(|(_, hook)| hook));
        besides.chain([self.gate_hook]).for_each(Attached::detach);
    }
}

/// A running gate.
struct Controller {
    config: Config,
    path: PathBuf,
    netlink: Netlink,
    placed: Option<Placed>,
    /// A hook that we made stays ours while the programs are replaced.
    made_clsact: bool,
    epochs: Epochs,
    journal: Journal,
    board: watch::Sender<Status>,
}

/// Runs the gate of a file until it is told to end.
///
/// # Errors
/// It cannot start: the file, the interface, the kernel. Once it runs, trouble is reported and lived with.
pub fn run(path: &Path) -> Result<(), Failure> {
    let config = Config::read(path)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed("tokio", error))?
        .block_on(start(config, path))
}

async fn start(config: Config, path: &Path) -> Result<(), Failure> {
    program::quiet();
    let (board, seen) = watch::channel(Status::default());
    let listen = |kind| signal(kind).map_err(|error| Failure::failed("signals", error));
    let signals = [
        listen(SignalKind::hangup())?,
        listen(SignalKind::terminate())?,
        listen(SignalKind::interrupt())?,
    ];
    let served = status::serve(&config.socket, seen.clone())?;
    if let Some(address) = config.metrics {
        metrics::serve(address, seen).await?;
    }
    let netlink = Netlink::open().map_err(|error| Failure::failed("netlink", error))?;
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
    let cells = if config.ends == config::Ends::Cells { cells(config) } else { 0 };
    Ends::new(cells, nanoseconds(now()))
}

/// Whole words of 64.
fn cells(config: &Config) -> u64 {
    u64::from(config.ends_size).next_multiple_of(64)
}

/// What the program is told once, before it is loaded.
fn settings(config: &Config, interface: &Interface, queue: &Queue) -> Settings {
    let rules = config.rules();
    let young = rules.young;
    Settings {
        opener: match config.opener {
            Opens::Syn => 0,
            Opens::SynAck => 1,
            Opens::Either => 2,
        },
        limiter: match config.limiter() {
            Limiter::Counter => 0,
            Limiter::TokenBucket => 1,
            Limiter::SavingBucket => 2,
        },
        refusal: 0,
        ends_of_peer: (config.ends_of == EndsOf::Peer).into(),
        ends: match config.ends {
            config::Ends::Every => 0,
            config::Ends::Cells => 1,
            config::Ends::FlowMap => 2,
        },
        ethernet: interface.ethernet.into(),
        quic: u32::from(config.quic == Quic::Admit),
        read_queue: queue.tells_its_length().into(),
        test_clock: 0,
        end_words: if config.ends == config::Ends::Cells { (cells(config) / 64) as u32 } else { 0 },
        salt: std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0u8),
        hashed: rules.hashed.into(),
        young_cells: young.map_or(0, |young| young.cells.next_multiple_of(8)),
        young_packets: young.map_or(0, |young| young.packets.into()),
        young_sample: young.map_or(0, |young| young.sample),
        ..Settings::default()
    }
}

/// The share of connection packets lost at 0, 1, ... packets, of 2^32 - 1 (dqm, fig. 2).
fn shares(dqm: &config::Dqm) -> Vec<u32> {
    let curve = Curve::new(&dqm.law);
    let buffer = f64::from(dqm.buffer);
    (0..=dqm.buffer)
        .map(|x| (curve.at(f64::from(x), buffer) * f64::from(u32::MAX)).round() as u32)
        .collect()
}

/// What the dual queue is told besides: the pace of its average.
fn averaging(settings: &Settings, dqm: &config::Dqm, rate: Rate) -> Settings {
    let weight = match dqm.law.measure {
        Measure::Instantaneous => 1.0,
        Measure::Average => {
            let link = Link { rate, delay: Time::ZERO };
            dqm.law.w.or(Average::automatic_weight(dqm.law.mean_packet, link))
        }
    };
    let service = dqm.law.mean_packet / rate;
    Settings {
        ewma_weight: ((weight * 65_536.0).round() as u32).clamp(1, 65_536),
        service_ns: u32::try_from(nanoseconds(service)).unwrap_or(u32::MAX).max(1),
        ..*settings
    }
}

/// The program of dual-queue management, where the file asks for it.
fn load_dqm(config: &Config, settings: &Settings, queue: &Queue) -> Result<Option<Dqm>, Failure> {
    let (Some(dqm), Some(rate)) = (&config.dqm, config.capacity) else { return Ok(None) };
    if !queue.tells_its_length() {
        let what = format!("dqm: the queue here ({}) does not tell its length", queue.kind);
        return Err(Failure::failed(&config.interface, what).remedy(
            "set `shape`, or give the interface a queue: tc qdisc add dev ... root bfifo",
        ));
    }
    Dqm::load(&averaging(settings, dqm, rate), &shares(dqm)).map(Some)
}

impl Controller {
    /// Loads the programs and puts them at the interface; those of before give way.
    fn place(&mut self) -> Result<(), Failure> {
        let (config, name) = (&self.config, &self.config.interface);
        let failed = |error: std::io::Error| Failure::failed(name, error);
        let Some(interface) = self.netlink.interface(name).map_err(failed)? else {
            return Err(Failure::failed(name, "there is no such interface here")
                .remedy("`ip link` lists those of this network namespace"));
        };
        if let Some((rate, buffer)) = config.shape {
            self.netlink.shape(&interface, rate, buffer).map_err(|error| {
                Failure::failed(format!("{name}: shape = \"{rate}\""), error)
                    .remedy("take the queue of the interface away first: tc qdisc del dev ... root")
            })?;
        } else {
            self.netlink.unshape(interface.index).map_err(failed)?;
        }
        let queue = self.netlink.queue(interface.index).map_err(failed)?.unwrap_or_default();
        let settings = settings(config, &interface, &queue);
        let flows = if config.ends == config::Ends::FlowMap { config.ends_size } else { 0 };
        let mut gate = Gate::load(&settings, flows)?;
        let dqm = load_dqm(config, &settings, &queue)?;
        self.epochs.recount(ends(config));
        gate.turn(&self.epochs.in_force())?;
        self.made_clsact |= !self.netlink.has_clsact(interface.index).map_err(failed)?;
        // one set of programs gives way to the other without a moment between
        let (hook, before) = (gate.attach(interface.index, config.priority)?, self.placed.take());
        let ends_hook = match config.ends_of {
            EndsOf::Peer => Some(gate.attach_ends(interface.index, config.priority)?),
            EndsOf::Sender => None,
        };
        let dqm = match dqm {
            Some(dqm) => {
                let hook = dqm.attach(interface.index, config.priority + 1)?;
                Some((dqm, hook))
            }
            None => None,
        };
        if let Some(before) = before {
            let ends = before.ends_hook.filter(|_| ends_hook.is_none());
            let dqm = before.dqm.map(|(_, hook)| hook).filter(|_| dqm.is_none());
            ends.into_iter().chain(dqm).for_each(Attached::detach);
        }
        self.placed = Some(Placed {
            interface,
            gate,
            gate_hook: hook,
            ends_hook,
            dqm,
            made_clsact: self.made_clsact,
            queue,
            fewest: u32::MAX,
            seen_fewest: false,
        });
        self.obey()
    }

    /// Hands what the file says of a running program to it, and a first lease.
    fn obey(&mut self) -> Result<(), Failure> {
        let (config, until) = (&self.config, now().saturating_add(self.config.lease));
        let Some(placed) = &mut self.placed else { return Ok(()) };
        let programs = std::iter::once(&mut placed.gate.program)
            .chain(placed.dqm.as_mut().map(|(dqm, _)| &mut dqm.program));
        for program in programs {
            program.set_never_refuse(&config.never_refuse)?;
            program.set(|control| {
                control.enforce = u32::from(config.mode == Mode::Enforce);
                control.ceiling = (config.ceiling * 65_536.0) as u32;
                control.lease_ns = nanoseconds(until);
            })?;
        }
        Ok(())
    }

    /// Says what is as it should not be.
    fn announce(&self) {
        let Some(placed) = &self.placed else { return };
        let (name, kind) = (&self.config.interface, &placed.queue.kind);
        if self.config.mode == Mode::Observe {
            tracing::info!("{name}: observing: nothing is refused, so the law runs open-loop");
        }
        if !placed.queue.holds_packets() {
            tracing::warn!(
                "{name} has no queue, so nothing waits or is lost here: with relief nothing is ever refused; set `shape` to bring the queue here"
            );
        } else if !placed.queue.tells_its_length() {
            tracing::warn!(
                "{name}: a queue of kind {kind} tells its length a few times a second only"
            );
        }
        tracing::info!(
            "{name}: {} bytes of kernel memory at most",
            placed.gate.program.map_bytes()
        );
    }

    /// Until it is told to end.
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

    /// Renews the lease and looks at the queue; whether the programs are in place.
    fn renew(&mut self) -> bool {
        let trouble = match self.try_renew() {
            Ok(()) => String::new(),
            Err(failure) => {
                if self.placed.take().is_some() {
                    tracing::warn!("{failure}; looking again every second, everything passes");
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
            // what it was is gone with the interface
            self.made_clsact = false;
            self.place()?;
            tracing::info!("{}: in place again", self.config.interface);
        }
        let until = nanoseconds(now().saturating_add(self.config.lease));
        let name = &self.config.interface;
        let Some(placed) = &mut self.placed else { return Ok(()) };
        let gone = |what: &str| Failure::failed(name, what);
        let there = self.netlink.interface(name).map_err(|error| Failure::failed(name, error))?;
        if there.as_ref().map(|there| there.index) != Some(placed.interface.index) {
            return Err(gone("the interface is gone"));
        }
        if !placed.stands() {
            return Err(gone("somebody has taken the filter away"));
        }
        let queue = self
            .netlink
            .queue(placed.interface.index)
            .map_err(|error| Failure::failed(name, error))?
            .unwrap_or_default();
        placed.fewest = placed.fewest.min(queue.waiting);
        placed.seen_fewest = true;
        placed.gate.program.set(|control| control.lease_ns = until)?;
        if let Some((dqm, _)) = &mut placed.dqm {
            dqm.program.set(|control| control.lease_ns = until)?;
        }
        Ok(())
    }

    fn end_epoch(&mut self) {
        if let Err(failure) = self.try_end_epoch() {
            tracing::warn!("{failure}");
            let trouble = failure.to_string();
            self.board.send_modify(|status| status.trouble = trouble);
        }
    }

    fn try_end_epoch(&mut self) -> Result<(), Failure> {
        let name = &self.config.interface;
        let failed = |error: std::io::Error| Failure::failed(name, error);
        let fault = |fault| Failure::failed("law", fault);
        let rate = self.config.capacity.unwrap_or(UNKNOWN);
        let Some(placed) = &mut self.placed else {
            // no interface: an epoch in which nothing came
            let idle = Flow::default();
            return self
                .epochs
                .end(now(), Default::default(), &idle, rate)
                .map(|_| ())
                .map_err(fault);
        };
        let tally = placed.gate.program.tally()?;
        let queue = self.netlink.queue(placed.interface.index).map_err(failed)?.unwrap_or_default();
        let observed = placed.gate.program.take_observed()?;
        let mut fewest = if placed.seen_fewest { placed.fewest } else { queue.waiting };
        if observed.seen != 0 {
            fewest = fewest.min(observed.min_queue);
        }
        let flow = Flow::between(&placed.queue, &queue, fewest);
        (placed.queue, placed.fewest, placed.seen_fewest) = (queue, u32::MAX, false);
        let outcome = self.epochs.end(now(), tally.counts(), &flow, rate).map_err(fault)?;
        placed.gate.turn(&self.epochs.in_force())?;
        if self.epochs.ends.turn(nanoseconds(now())) {
            placed.gate.next_generation()?;
        }
        self.write_down(&outcome, &flow)
    }

    /// The log, the status, the metrics.
    fn write_down(&mut self, outcome: &Outcome, flow: &Flow) -> Result<(), Failure> {
        let Some(placed) = &self.placed else { return Ok(()) };
        let tally = placed.gate.program.tally()?;
        let connections = match &placed.dqm {
            Some((dqm, _)) => {
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

    /// Takes a changed file over; one that is wrong changes nothing.
    fn reload(&mut self) {
        let trouble = match self.try_reload() {
            Ok(()) => String::new(),
            Err(failure) => {
                tracing::error!("the file is not taken over, what was in force stays: {failure}");
                format!("reload: {failure}")
            }
        };
        self.board.send_modify(|status| status.trouble = trouble);
    }

    fn try_reload(&mut self) -> Result<(), Failure> {
        let new = Config::read(&self.path)?;
        if let Some(key) = self.config.fixed_difference(&new) {
            let what = format!("{key}: a running gate cannot change it");
            return Err(Failure::usage(self.path.display(), what).remedy("start the gate anew"));
        }
        let law_changed = self.config.law != new.law;
        let place = placement(&self.config) != placement(&new);
        let old = std::mem::replace(&mut self.config, new);
        let epochs = if law_changed { Some(epochs(&self.config)?) } else { None };
        let replaced = if place { self.place() } else { self.obey() };
        if let Err(failure) = replaced {
            // the filters of before are still there, and so is their state
            self.config = old;
            return Err(failure);
        }
        self.epochs.change(self.config.flood, self.config.onset, self.config.tokens_keep);
        if let Some(mut epochs) = epochs {
            // the law begins anew, the counts go on from where they are
            if let Some(placed) = &self.placed {
                epochs.go_on_from(placed.gate.program.tally()?.counts());
            }
            self.epochs = epochs;
        }
        self.journal.reopen(self.config.log.clone());
        let law =
            if law_changed { "it is another one and begins anew" } else { "goes on as it was" };
        tracing::info!("{} taken over; the law: {law}", self.path.display());
        Ok(())
    }

    /// Takes away what was put there, and nothing else.
    fn leave(&mut self) {
        let Some(placed) = self.placed.take() else { return };
        let (index, made_clsact) = (placed.interface.index, placed.made_clsact);
        placed.detach();
        if made_clsact && let Err(error) = self.netlink.remove_empty_clsact(index) {
            tracing::warn!("clsact stays: {error}");
        }
        if self.config.shape.is_some()
            && let Err(error) = self.netlink.unshape(index)
        {
            tracing::warn!("the shaper stays: {error}");
        }
    }
}

/// What a program is loaded with: a change needs another one.
fn placement(config: &Config) -> impl PartialEq + use<> {
    (
        config.rules(),
        (config.opener, config.limiter(), config.quic),
        (config.ends, config.ends_of, config.ends_size),
        (config.dqm.clone(), config.shape, config.capacity),
    )
}
