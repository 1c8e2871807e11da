//! The programs in the kernel: loading, attaching, reading, detaching.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::Path;

use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramInput, ProgramMut};
use tidegate_core::law::session::Knobs;
use zerocopy::{FromBytes, IntoBytes};

use super::config::{Network, NeverRefuse};
use super::filters::InterfaceSide;
use super::hook::{Attached, Attachment, Site, refused};
use super::shared::{ClientCounts, ClientKey, GateControl, Observed, Settings, Tally, knobs_bytes};
use super::who;
use tidegate_common::fail::Failure;

static GATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.bpf.o"));
/// The same, which reads no queue: for a kernel that does not tell its types.
static WITHOUT_TYPES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate-without-types.bpf.o"));
/// Where a kernel tells its types (BTF).
pub const TYPES: &str = "sys/kernel/btf/vmlinux";

const ONLY: [u8; 4] = 0u32.to_ne_bytes();
/// The program that finds the sessions of QUIC that have ended.
const SWEEP: &str = "tidegate_sweep";

/// Clients that are read at once.
const BATCH: u32 = 4096;

/// Silences the loader: its errors come back as errors.
pub fn quiet() {
    libbpf_rs::set_print(None);
}

/// A loaded object and the maps that its programs share.
pub struct Program {
    object: Object,
    name: &'static str,
    control: MapHandle,
    tally: MapHandle,
    observed: MapHandle,
    /// The contents of the control map.
    state: GateControl,
}

impl Program {
    fn load(
        name: &'static str,
        settings: &Settings,
        sizes: &[(&str, u32)],
    ) -> Result<Program, Failure> {
        let bytes = if Path::new("/").join(TYPES).exists() { GATE } else { WITHOUT_TYPES };
        let mut open = ObjectBuilder::default()
            .open_memory(bytes)
            .map_err(|error| refused(name, format!("the program cannot be opened: {error}")))?;
        for mut map in open.maps_mut() {
            let title = map.name().to_string_lossy().into_owned();
            if title.ends_with(".rodata") {
                map.set_initial_value(settings.as_bytes()).map_err(|error| refused(name, error))?;
            }
            if let Some((_, entries)) = sizes.iter().find(|(sized, _)| *sized == title) {
                map.set_max_entries(*entries).map_err(|error| refused(name, error))?;
            }
        }
        for mut part in open.progs_mut() {
            // it needs a kernel that compiles programs, and is run for QUIC alone
            if part.name() == OsStr::new(SWEEP) {
                part.set_autoload(settings.quic_cells > 0);
            }
        }
        let object = open
            .load()
            .map_err(|error| refused(name, format!("the kernel refuses to load it: {error}")))?;
        let map = |title| find(&object, name, title);
        let (control, tally, observed) = (map("control")?, map("tally")?, map("observed")?);
        let state = GateControl::default();
        let program = Program { object, name, control, tally, observed, state };
        program.write()?;
        Ok(program)
    }

    fn map(&self, title: &str) -> Result<MapHandle, Failure> {
        find(&self.object, self.name, title)
    }

    fn write(&self) -> Result<(), Failure> {
        put(&self.control, &ONLY, self.state.as_bytes()).map_err(|error| refused(self.name, error))
    }

    /// Changes what the controller sets.
    ///
    /// # Errors
    /// The kernel refuses the write.
    pub fn set(&mut self, change: impl FnOnce(&mut GateControl)) -> Result<(), Failure> {
        change(&mut self.state);
        self.write()
    }

    /// The counts since the program was loaded, over all CPUs.
    ///
    /// # Errors
    /// The kernel refuses the read.
    pub fn tally(&self) -> Result<Tally, Failure> {
        let each = self
            .tally
            .lookup_percpu(&ONLY, MapFlags::ANY)
            .map_err(|error| refused(self.name, error))?
            .unwrap_or_default();
        Ok(each
            .iter()
            .filter_map(|bytes| Tally::read_from_prefix(bytes).ok())
            .fold(Tally::default(), |sum, (one, _)| sum.with(&one)))
    }

    /// The queue as the program read it.
    ///
    /// # Errors
    /// The kernel refuses the read.
    pub fn observed(&self) -> Result<Observed, Failure> {
        let bytes = self
            .observed
            .lookup(&ONLY, MapFlags::ANY)
            .map_err(|error| refused(self.name, error))?
            .unwrap_or_default();
        Ok(Observed::read_from_prefix(&bytes).map(|(seen, _)| seen).unwrap_or_default())
    }

    /// The same, and resets the values of an interval.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn take_observed(&self) -> Result<Observed, Failure> {
        let found = self.observed()?;
        let next = Observed { min_queue: u32::MAX, seen: 0 };
        put(&self.observed, &ONLY, next.as_bytes()).map_err(|error| refused(self.name, error))?;
        Ok(found)
    }

    /// Writes the networks and ports that are never refused.
    ///
    /// # Errors
    /// The kernel refuses it, as with more networks than the map holds.
    pub fn set_never_refuse(&self, list: &NeverRefuse) -> Result<(), Failure> {
        let fail = |error| refused(self.name, error);
        let (four, six) = (self.map("networks4")?, self.map("networks6")?);
        for (map, keys) in [
            (four, list.networks.iter().filter_map(Network::key4).collect::<Vec<_>>()),
            (six, list.networks.iter().filter_map(Network::key6).collect()),
        ] {
            let before: Vec<Vec<u8>> = map.keys().collect();
            for key in &keys {
                put(&map, key, &1u32.to_ne_bytes()).map_err(fail)?;
            }
            for stale in before.iter().filter(|key| !keys.contains(key)) {
                map.delete(stale).map_err(fail)?;
            }
        }
        let ports = self.map("ports")?;
        for word in 0..1024u32 {
            let listed = |bit: &u32| list.has_port((64 * word + bit) as u16);
            let bits = (0..64u32).filter(listed).fold(0u64, |bits, bit| bits | 1 << bit);
            put(&ports, &word.to_ne_bytes(), &bits.to_ne_bytes()).map_err(fail)?;
        }
        Ok(())
    }

    /// The program of that name in the object.
    fn part(&self, title: &str) -> Result<ProgramMut<'_>, Failure> {
        let found = self.object.progs_mut().find(|program| program.name() == OsStr::new(title));
        found.ok_or_else(|| refused(self.name, format!("the object has no program `{title}`")))
    }

    fn attach(&self, place: Attachment, at: &Site<'_>) -> Result<Attached, Failure> {
        Attached::new(self.part(place.title)?.as_fd(), place, at, self.name)
    }

    /// Largest kernel memory of its maps, bytes.
    pub fn map_bytes(&self) -> u64 {
        let cpus = libbpf_rs::num_possible_cpus().unwrap_or(1) as u64;
        self.object
            .maps()
            .map(|map| {
                let each = u64::from(map.key_size()) + u64::from(map.value_size());
                each * u64::from(map.max_entries())
                    * if map.map_type().is_percpu() { cpus } else { 1 }
            })
            .sum()
    }

    /// Runs the program on one packet, as the kernel would.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn show(&self, packet: &[u8], repeat: u32) -> Result<Shown, Failure> {
        self.run("tidegate_gate", packet, repeat)
    }

    fn run(&self, title: &str, packet: &[u8], repeat: u32) -> Result<Shown, Failure> {
        let program = self.part(title)?;
        let input = ProgramInput { data_in: Some(packet), repeat, ..ProgramInput::default() };
        let output = program.test_run(input).map_err(|error| refused(self.name, error))?;
        Ok(Shown { action: output.return_value.cast_signed(), each: output.duration })
    }
}

/// The result of a run on a packet.
pub struct Shown {
    /// The returned action.
    pub action: i32,
    /// Duration of one run, as the kernel measures it.
    pub each: std::time::Duration,
}

fn find(object: &Object, name: &str, title: &str) -> Result<MapHandle, Failure> {
    let map = object
        .maps()
        .find(|map| map.name() == OsStr::new(title))
        .ok_or_else(|| refused(name, format!("the object has no map `{title}`")))?;
    MapHandle::try_from(&map).map_err(|error| refused(name, error))
}

fn put(map: &MapHandle, key: &[u8], value: &[u8]) -> libbpf_rs::Result<()> {
    map.update(key, value, MapFlags::ANY)
}

/// Session control in the kernel, with dual-queue management behind it.
pub struct KernelGate {
    /// The program with its maps.
    pub program: Program,
    knobs: MapHandle,
    ended: MapHandle,
    clock: MapHandle,
    words: u32,
}

impl KernelGate {
    /// Loads the program. `flows` is the size of the map of ended flows; `shares` is the share of
    /// openers, of 2^32 - 1, that dual-queue management drops at each length of the queue. Less than
    /// two of them: there is no such management.
    ///
    /// # Errors
    /// The kernel refuses to load it.
    pub fn load(settings: &Settings, flows: u32, shares: &[u32]) -> Result<KernelGate, Failure> {
        let settings =
            &Settings { queue_limit: shares.len().saturating_sub(1) as u32, ..*settings };
        let words = (settings.young_cells / 8).max(1);
        let ended = (2 * settings.end_words).max(1);
        let clients = settings.client_cells.max(1);
        let flows = flows.max(1);
        let sizes = [
            ("ended", ended),
            ("ended_flows", flows),
            ("young", words),
            ("clients", clients),
            ("unanswered", settings.answer_words.max(1)),
            ("connections", settings.quic_cells.max(1)),
            ("whose", if settings.who > 0 { who::MOST } else { 1 }),
            ("shares", settings.queue_limit + 1),
        ];
        let program = Program::load("gate", settings, &sizes)?;
        // flows that already exist are not young
        let keys: Vec<u8> = (0..words).flat_map(u32::to_ne_bytes).collect();
        let full = vec![u8::MAX; words as usize * 8];
        program
            .map("young")?
            .update_batch(&keys, &full, words, MapFlags::ANY, MapFlags::ANY)
            .map_err(|error| refused(program.name, error))?;
        let table = program.map("shares")?;
        for (at, share) in (0u32..).zip(shares) {
            put(&table, &at.to_ne_bytes(), &share.to_ne_bytes())
                .map_err(|error| refused(program.name, error))?;
        }
        let map = |title| program.map(title);
        let (knobs, ended, clock) = (map("knobs_map")?, map("ended")?, map("clock")?);
        Ok(KernelGate { program, knobs, ended, clock, words: settings.end_words })
    }

    /// Puts knobs in force and begins a new interval.
    ///
    /// # Errors
    /// The kernel refuses the write.
    pub fn set_knobs(&mut self, knobs: &Knobs) -> Result<(), Failure> {
        let turn = self.program.state.turn.wrapping_add(1);
        put(&self.knobs, &(turn & 1).to_ne_bytes(), &knobs_bytes(knobs))
            .map_err(|error| refused(self.program.name, error))?;
        self.program.set(|control| control.turn = turn)
    }

    /// Forgets the older generation of ends and starts a new one.
    ///
    /// # Errors
    /// The kernel refuses the write.
    pub fn next_generation(&mut self) -> Result<(), Failure> {
        let next = self.program.state.end_generation ^ 1;
        let first = next * self.words;
        let keys: Vec<u8> = (first..first + self.words).flat_map(u32::to_ne_bytes).collect();
        let zeros = vec![0; self.words as usize * 8];
        self.ended
            .update_batch(&keys, &zeros, self.words, MapFlags::ANY, MapFlags::ANY)
            .map_err(|error| refused(self.program.name, error))?;
        self.program.set(|control| control.end_generation = next)
    }

    /// Puts it at the egress of an interface.
    ///
    /// # Errors
    /// The kernel refuses it, or another filter has the priority.
    pub fn attach(&self, at: &Site<'_>, priority: u32) -> Result<Attached, Failure> {
        self.program.attach(
            Attachment { title: "tidegate_gate", side: InterfaceSide::Egress, priority },
            at,
        )
    }

    /// Puts it at a side of an interface, to count what passes there.
    ///
    /// # Errors
    /// The kernel refuses it, or another filter has the priority.
    pub fn attach_to_count(
        &self,
        at: &Site<'_>,
        side: InterfaceSide,
        priority: u32,
    ) -> Result<Attached, Failure> {
        self.program.attach(Attachment { title: "tidegate_gate", side, priority }, at)
    }

    /// Decides about the SYNs that come in by that interface, and counts ends and answers, where
    /// the settings say so.
    ///
    /// # Errors
    /// The kernel refuses it, or another filter has the priority.
    pub fn attach_ingress(&self, at: &Site<'_>, priority: u32) -> Result<Attached, Failure> {
        self.program.attach(
            Attachment { title: "tidegate_ends", side: InterfaceSide::Ingress, priority },
            at,
        )
    }

    /// Runs the program of the ingress on one packet; its action.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn show_incoming(&self, packet: &[u8]) -> Result<i32, Failure> {
        self.program.run("tidegate_ends", packet, 1).map(|shown| shown.action)
    }

    /// Whether the kernel lets the program read the length of a queue, which Linux before 6.2
    /// does not: dual-queue management would do nothing.
    ///
    /// # Errors
    /// The kernel refuses to run it.
    pub fn reads_queues(&self) -> Result<bool, Failure> {
        self.program.show(&[0; 64], 1)?;
        Ok(self.program.take_observed()?.seen != 0)
    }

    /// What became of each client, where the settings ask for it.
    ///
    /// # Errors
    /// The kernel refuses the read.
    pub fn whose(&self) -> Result<Vec<(ClientKey, ClientCounts)>, Failure> {
        let map = self.program.map("whose")?;
        let all = map.lookup_batch(BATCH, MapFlags::ANY, MapFlags::ANY);
        let all = all.map_err(|error| refused(self.program.name, error))?;
        let read = |(key, counts): (Vec<u8>, Vec<u8>)| {
            let key = ClientKey::read_from_bytes(&key).ok()?;
            Some((key, ClientCounts::read_from_bytes(&counts).ok()?))
        };
        Ok(all.filter_map(read).collect())
    }

    /// Counts the connections of QUIC that have ended.
    ///
    /// # Errors
    /// The kernel refuses to run the program.
    pub fn sweep(&self) -> Result<(), Failure> {
        self.program.run(SWEEP, &[0; 64], 1).map(|_| ())
    }

    /// The kernel's monotonic clock, as the programs read it, ns.
    ///
    /// # Errors
    /// The kernel refuses to run the program.
    pub fn kernel_clock(&self) -> Result<u64, Failure> {
        self.program.run("tidegate_clock", &[0; 64], 1)?;
        let read = self.clock.lookup(&ONLY, MapFlags::ANY);
        let bytes = read.map_err(|error| refused(self.program.name, error))?.unwrap_or_default();
        bytes.try_into().map(u64::from_ne_bytes).map_err(|_| refused(self.program.name, "no clock"))
    }
}
