//! The programs at an interface: loaded with all that they need, then attached.
//! If one cannot be attached, the earlier programs are attached again.

use tidegate_core::law::queue::Average;
use tidegate_core::law::queue::dqm::{Curve, Measure};
use tidegate_core::law::session::{Knobs, Limiter};
use tidegate_core::law::settings::Link;
use tidegate_core::units::{Rate, Time};

use super::config::{self, Config, Direction, EndsOf, Mode, Quic, RefuseAt};
use super::filters::{InterfaceSide, TcFilter};
use super::hook::{self, Attached, Hook, Site};
use super::link::{Interface, Queue};
use super::program::KernelGate;
use super::shared::Settings;
use tidegate_common::fail::Failure;

/// The programs at an interface.
pub struct Placement {
    /// The interface.
    pub interface: Interface,
    /// Session control, and dual-queue management where the file asks for it.
    pub gate: KernelGate,
    /// Rate and buffer of our shaper.
    pub shape: Option<(Rate, u32)>,
    /// The queue when the epoch began.
    pub queue: Queue,
    /// Fewest packets that waited in it at a renewal of the lease since then.
    pub fewest: Option<u32>,
    /// Openers that had passed when the epoch began.
    pub passed_before: u64,
    /// Openers that the law had admitted by then.
    pub admitted_before: u64,
    /// Sessions that had been answered when the epoch began.
    pub answered_before: u64,
    /// Sessions of QUIC that had ended when the epoch began.
    pub idle_before: u64,
    attached: Vec<Attached>,
}

impl Placement {
    /// Loads the programs. Nothing changes at the interface.
    ///
    /// # Errors
    /// The kernel refuses one, or the length of the queue cannot be read.
    pub fn load(
        config: &Config,
        interface: Interface,
        queue: Queue,
        knobs: &Knobs,
    ) -> Result<Placement, Failure> {
        let flows =
            if config.file.ends == config::EndCounting::FlowMap { config.ends_size } else { 0 };
        let (settings, shares) = behind(config, settings(config, &interface, &queue), &queue)?;
        let mut gate = KernelGate::load(&settings, flows, &shares)?;
        gate.set_knobs(knobs)?;
        if !shares.is_empty() && !gate.reads_queues()? {
            let what = "dqm: this kernel does not let programs read the length of a queue";
            return Err(
                Failure::failed(&config.file.interface, what).remedy("use Linux 6.2 or newer")
            );
        }
        let (shape, attached) = (config.shape, Vec::new());
        Ok(Placement {
            interface,
            gate,
            shape,
            queue,
            fewest: None,
            passed_before: 0,
            admitted_before: 0,
            answered_before: 0,
            idle_before: 0,
            attached,
        })
    }

    /// Writes the settings of the file that may change at any time, and a lease.
    ///
    /// # Errors
    /// The kernel refuses a write.
    pub fn apply(&mut self, config: &Config, lease_ns: u64) -> Result<(), Failure> {
        self.gate.program.set_never_refuse(&config.file.never_refuse)?;
        self.gate.program.set(|control| {
            control.enforce = u32::from(config.file.mode == Mode::Enforce);
            control.ceiling = (config.file.ceiling * 65_536.0) as u32;
            control.lease_ns = lease_ns;
        })
    }

    /// Renews the lease.
    ///
    /// # Errors
    /// The kernel refuses a write.
    pub fn renew(&mut self, lease_ns: u64) -> Result<(), Failure> {
        self.gate.program.set(|control| control.lease_ns = lease_ns)
    }

    /// Attaches the programs in the place of those of `before`, without a gap; `there` has the
    /// filters of the interface.
    /// If one cannot be attached, those of `before` are attached again.
    ///
    /// # Errors
    /// The kernel refuses one, or another filter has its priority.
    pub fn attach(
        &mut self,
        config: &Config,
        (hook, there): (Hook, &[TcFilter]),
        before: Option<&mut Placement>,
    ) -> Result<(), Failure> {
        let mut none = Vec::new();
        let before = before.map_or(&mut none, |before| &mut before.attached);
        let site = Site { index: self.interface.index, hook, filters: there, before };
        if let Err(failure) = self.try_attach(config, &site) {
            for new in self.attached.drain(..).rev() {
                match before.iter_mut().find(|old| old.place == new.place) {
                    Some(old) => old.put_back(),
                    None => new.detach(),
                }
            }
            return Err(failure);
        }
        let replaced = |old: &Attached| self.attached.iter().any(|new| new.place == old.place);
        before.drain(..).filter(|old| !replaced(old)).for_each(Attached::detach);
        Ok(())
    }

    fn try_attach(&mut self, config: &Config, site: &Site<'_>) -> Result<(), Failure> {
        let priority = config.file.priority;
        self.attached.push(self.gate.attach(site, priority)?);
        if config.looks_at_ingress() {
            self.attached.push(self.gate.attach_ingress(site, priority)?);
        }
        Ok(())
    }

    /// The program of another that runs before all programs here, at tcx.
    pub fn runs_first(&self, side: InterfaceSide) -> Option<u32> {
        hook::first_of_others(self.interface.index, side, &self.attached)
    }

    /// Whether all programs are still attached.
    pub fn stands(&mut self) -> bool {
        self.attached.iter_mut().all(Attached::stands)
    }

    /// Detaches the programs.
    pub fn detach(self) {
        self.attached.into_iter().for_each(Attached::detach);
    }
}

/// Words of 64 cells for admitted sessions without an answer: one in a thousand is confused with
/// another where 64 of them are open at a time.
const ANSWER_WORDS: u32 = 1024;

/// Cells of connections of QUIC, of eight bytes: as many as the gate of a port has in the simulator.
const QUIC_CELLS: u32 = 65_536;

/// How it is told that a session was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// It is not, or need not be.
    Unknown,
    /// By cells for what comes in by this interface: each such packet is hashed.
    Cells,
    /// By what leaves: the law counts the packets of each flow anyway.
    Age,
}

/// `onset` needs answers.
fn answers(config: &Config) -> Answers {
    let aged = config.rules().young.is_some_and(|young| young.sample == 1);
    match config.onset > Time::ZERO {
        true if aged => Answers::Age,
        true if config.file.ends_of == EndsOf::Peer => Answers::Cells,
        _ => Answers::Unknown,
    }
}

/// Whether answers are counted.
pub fn counts_answers(config: &Config) -> bool {
    answers(config) != Answers::Unknown
}

/// Cells of one generation of ends: whole words of 64.
pub fn cells(config: &Config) -> u64 {
    match config.file.ends {
        config::EndCounting::Cells => u64::from(config.ends_size).next_multiple_of(64),
        _ => 0,
    }
}

/// A time in ticks, an hour at most.
fn ticks(of: u64) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// The settings that a program has from its load on.
fn settings(config: &Config, interface: &Interface, queue: &Queue) -> Settings {
    let rules = config.rules();
    let young = rules.young;
    let visits = rules.clients.filter(|_| rules.visits).map(|clients| clients.visit_ticks());
    Settings {
        opener: config.file.opener as u32,
        limiter: match config.limiter() {
            Limiter::Counter => 0,
            Limiter::TokenBucket => 1,
            Limiter::SavingBucket => 2,
        },
        ends_of_peer: (config.file.ends_of == EndsOf::Peer).into(),
        syn_in: (config.refuse_at == RefuseAt::Ingress).into(),
        ends: config.file.ends as u32,
        ethernet: interface.ethernet.into(),
        quic_cells: if config.file.quic == Quic::Admit { QUIC_CELLS } else { 0 },
        quic_idle_ms: u32::try_from(config.file.quic_idle.ps() / 1_000_000_000).unwrap_or(u32::MAX),
        read_queue: queue.tells_its_length().into(),
        end_words: (cells(config) / 64) as u32,
        salt: std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0u8),
        hashed: rules.hashed.into(),
        young_cells: young.map_or(0, |young| young.cells.next_multiple_of(8)),
        young_packets: young.map_or(0, |young| young.counts()),
        young_k: young.map_or(0, |young| young.k()),
        young_sample: young.map_or(0, |young| young.sample),
        client_cells: rules.clients.map_or(0, |clients| clients.cells),
        client_idle: rules.clients.map_or(0, |clients| ticks(clients.idle_ticks())),
        client_wait: rules.clients.map_or(0, |clients| ticks(clients.wait_ticks())),
        follow: visits.map_or(0, |(follow, _)| ticks(follow)),
        visit: visits.map_or(0, |(_, visit)| ticks(visit)),
        client_prefix4: config.file.client_ipv4,
        client_prefix6: config.file.client_ipv6,
        answer_words: if answers(config) == Answers::Cells { ANSWER_WORDS } else { 0 },
        who: match (config.file.who, config.direction) {
            (false, _) => 0,
            (true, None) => 1,
            (true, Some(Direction::Down)) => 2,
            (true, Some(Direction::Up)) => 3,
        },
        answers_by_age: (answers(config) == Answers::Age).into(),
        ..Settings::default()
    }
}

/// The share of connection packets dropped at 0, 1, ... packets, of 2^32 - 1 (dqm, fig. 2).
fn shares(dqm: &config::Dqm) -> Vec<u32> {
    let curve = Curve::new(&dqm.law);
    let buffer = f64::from(dqm.buffer);
    (0..=dqm.buffer)
        .map(|x| (curve.at(f64::from(x), buffer) * f64::from(u32::MAX)).round() as u32)
        .collect()
}

/// The settings of dual-queue management: also the weight of its average.
fn averaging(settings: &Settings, dqm: &config::Dqm, rate: Rate) -> Settings {
    let weight = match dqm.law.measure {
        Measure::Instantaneous => 1.0,
        Measure::Average => {
            let link = Link { rate, delay: Time::ZERO };
            dqm.law.w.or(Average::automatic_weight(dqm.law.mean_packet, link))
        }
    };
    let service_ns = (dqm.law.mean_packet / rate).ps() / 1_000;
    Settings {
        ewma_weight: ((weight * 65_536.0).round() as u32).clamp(1, 65_536),
        service_ns: u32::try_from(service_ns).unwrap_or(u32::MAX).max(1),
        ..*settings
    }
}

/// The settings with dual-queue management, and its table; empty: the file does not ask for it.
fn behind(
    config: &Config,
    settings: Settings,
    queue: &Queue,
) -> Result<(Settings, Vec<u32>), Failure> {
    let (Some(dqm), Some(rate)) = (&config.dqm, config.capacity) else {
        return Ok((settings, Vec::new()));
    };
    if !queue.tells_its_length() {
        let what = format!("dqm: the queue here ({}) does not tell its length", queue.kind);
        return Err(Failure::failed(&config.file.interface, what).remedy(
            "set `shape`, or give the interface a queue: tc qdisc add dev ... root bfifo",
        ));
    }
    Ok((averaging(&settings, dqm, rate), shares(dqm)))
}
