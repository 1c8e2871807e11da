//! The programs of the gate, in the kernel that runs and compiled for this machine. Both replay the
//! same packets; only the kernel's needs rights.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tidegate_core::law::session::Knobs;
use tidegate_gate::program::KernelGate;
use tidegate_gate::shared::{GateControl, Settings, Tally, knobs_bytes};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::kernel;

/// A lease of 30 s.
const LEASE: u64 = 30_000_000_000;

/// A place where the programs run.
pub trait Machine {
    /// Sets the time of the test's clock, and a lease from then on.
    fn at(&mut self, now_ns: u64);
    /// Puts knobs in force and begins a new interval.
    fn set_knobs(&mut self, knobs: &Knobs);
    /// The action on a packet that leaves.
    fn show(&mut self, packet: &[u8]) -> i32;
    /// Counts the connections of QUIC that have ended.
    fn sweep(&mut self);
    /// The counts so far.
    fn tally(&mut self) -> Tally;
}

impl Machine for KernelGate {
    fn at(&mut self, now_ns: u64) {
        let set = |control: &mut GateControl| {
            (control.test_now_ns, control.lease_ns) = (now_ns, now_ns + LEASE);
        };
        self.program.set(set).expect("the kernel takes the time");
    }

    fn set_knobs(&mut self, knobs: &Knobs) {
        KernelGate::set_knobs(self, knobs).expect("the kernel takes the knobs");
    }

    fn show(&mut self, packet: &[u8]) -> i32 {
        kernel::show(self, packet)
    }

    fn sweep(&mut self) {
        KernelGate::sweep(self).expect("the kernel sweeps");
    }

    fn tally(&mut self) -> Tally {
        kernel::tally(self)
    }
}

/// The programs as a process of this machine.
pub struct Host {
    process: Child,
    input: ChildStdin,
    output: ChildStdout,
    control: GateControl,
}

/// The number of a request to it (`enum request` in `gate.c`).
#[derive(Clone, Copy)]
enum Request {
    Settings,
    Control,
    Knobs,
    Show,
    Sweep = 5,
    Tally,
    YoungPlace,
}

/// Compiles a source of this folder's neighbour; what C leaves undefined, an odd address among it, ends
/// the program.
pub fn compile(source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reader/host");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source);
    let checks = ["-fsanitize=undefined", "-fsanitize-trap=undefined", "-Wall", "-Werror", "-O1"];
    let built = Command::new("clang")
        .args(checks)
        // of the kernel's structures, whose places only the kernel's loader knows
        .arg("-Wno-unknown-attributes")
        .arg("-I")
        .arg(&folder)
        .arg("-o")
        .args([&program, &folder.join(format!("{source}.c"))])
        .status();
    let built = built.is_ok_and(|status| status.success());
    assert!(built, "clang, which has compiled the programs of the gate too");
    program
}

impl Host {
    /// Starts the programs with these settings.
    pub fn start(settings: &Settings) -> Host {
        static PROGRAM: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
        let mut process = Command::new(PROGRAM.get_or_init(|| compile("gate")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program that was built starts");
        let input = process.stdin.take().expect("a pipe");
        let output = process.stdout.take().expect("a pipe");
        let control = GateControl { enforce: 1, lease_ns: LEASE, ..GateControl::default() };
        let mut host = Host { process, input, output, control };
        host.ask::<8>(Request::Settings, settings.as_bytes());
        host.control();
        host
    }

    fn ask<const ANSWER: usize>(&mut self, request: Request, bytes: &[u8]) -> [u8; ANSWER] {
        let head = [request as u32, bytes.len() as u32].map(u32::to_ne_bytes).concat();
        let mut answer = [0; ANSWER];
        let told = self
            .input
            .write_all(&[&head, bytes].concat())
            .and_then(|()| self.input.flush())
            .and_then(|()| self.output.read_exact(&mut answer));
        if let Err(error) = told {
            panic!("{error}: {:?}", self.process.wait());
        }
        answer
    }

    fn control(&mut self) {
        let control = self.control;
        self.ask::<8>(Request::Control, control.as_bytes());
    }

    /// The counter of a flow with this hash; none: it is not watched.
    pub fn young_place(&mut self, hash: u64) -> Option<u64> {
        let place = u64::from_ne_bytes(self.ask(Request::YoungPlace, &hash.to_ne_bytes()));
        (place != u64::MAX).then_some(place)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // it has ended already if a request has failed
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Machine for Host {
    fn at(&mut self, now_ns: u64) {
        (self.control.test_now_ns, self.control.lease_ns) = (now_ns, now_ns + LEASE);
        self.control();
    }

    fn set_knobs(&mut self, knobs: &Knobs) {
        let turn = self.control.turn.wrapping_add(1);
        let entry = u64::from(turn & 1).to_le_bytes();
        self.ask::<8>(Request::Knobs, &[&entry[..], &knobs_bytes(knobs)].concat());
        self.control.turn = turn;
        self.control();
    }

    fn show(&mut self, packet: &[u8]) -> i32 {
        u64::from_ne_bytes(self.ask(Request::Show, packet)) as i32
    }

    fn sweep(&mut self) {
        self.ask::<8>(Request::Sweep, &[0; 64]);
    }

    fn tally(&mut self) -> Tally {
        let bytes: [u8; size_of::<Tally>()] = self.ask(Request::Tally, &[]);
        Tally::read_from_bytes(&bytes).expect("it has that size")
    }
}

/// The programs with these settings at every place where they may run.
pub fn machines(settings: Settings) -> Vec<Box<dyn Machine>> {
    let mut machines: Vec<Box<dyn Machine>> = vec![Box::new(Host::start(&settings))];
    machines.extend(kernel::gate(settings, 0).map(|gate| Box::new(gate) as Box<dyn Machine>));
    machines
}
