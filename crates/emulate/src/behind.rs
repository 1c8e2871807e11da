//! A namespace behind the link, and a command in it.
//!
//! The namespace has one device besides `lo`, and its default route leads through the link. At the
//! other end of the link is this machine, in the namespace that the program runs in. Both ends get an
//! address of 100.64.0.0/10 (RFC 6598), by the number of the process, so that two programs can run
//! side by side. Nothing is forwarded: the command reaches this machine, and nothing behind it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tidegate_common::fail::{At, Failure};

use crate::device::{Device, DeviceName};

/// First address of 100.64.0.0/10.
const FIRST: u32 = 0x6440_0000;
/// Pairs of addresses in it.
const PAIRS: u32 = 1 << 21;

/// How often the program looks whether the command has ended.
const LOOK: Duration = Duration::from_millis(20);

/// A namespace behind the link; it is removed when this is dropped.
pub struct Behind {
    namespace: String,
    outer: String,
    /// The address of this machine, as the command sees it, and that of the command.
    addresses: [Ipv4Addr; 2],
}

/// Runs `ip` with these arguments.
fn ip(arguments: &[&str]) -> Result<(), Failure> {
    let place = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip").args(arguments).output().map_err(|error| {
        Failure::failed(place(), error).remedy("install iproute2, and run as root")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(Failure::failed(place(), told.trim()).remedy("run as root"))
}

/// The addresses of the two ends, by the number of the process.
fn addresses(process: u32) -> [Ipv4Addr; 2] {
    let first = FIRST + 2 * (process % PAIRS);
    [Ipv4Addr::from(first), Ipv4Addr::from(first + 1)]
}

impl Behind {
    /// Makes the namespace; it has no link yet.
    ///
    /// # Errors
    /// There is no iproute2, or no permission.
    pub fn make() -> Result<Behind, Failure> {
        remove_left(Path::new(NAMESPACES), Path::new("/proc"));
        let process = std::process::id();
        let namespace = format!("{OURS}{process}");
        ip(&["netns", "add", &namespace])?;
        Ok(Behind { namespace, outer: format!("tg{process}"), addresses: addresses(process) })
    }

    /// Where the devices at both ends are to be made.
    pub fn places(&self) -> [DeviceName; 2] {
        let there = Some(self.namespace.clone());
        let outer = DeviceName { namespace: None, name: self.outer.clone() };
        [outer, DeviceName { namespace: there, name: "link0".to_owned() }]
    }

    /// Gives the devices their addresses, which exist as long as they do.
    ///
    /// # Errors
    /// An address is taken.
    pub fn address(&self, _devices: &[Device; 2]) -> Result<(), Failure> {
        let [ours, theirs] = self.addresses.map(|address| address.to_string());
        let inside = ["-n", &self.namespace];
        ip(&["address", "add", &ours, "peer", &theirs, "dev", &self.outer])?;
        ip(&["link", "set", &self.outer, "up"])?;
        let within: [&[&str]; 4] = [
            &["address", "add", &theirs, "peer", &ours, "dev", "link0"],
            &["link", "set", "link0", "up"],
            &["link", "set", "lo", "up"],
            &["route", "add", "default", "dev", "link0"],
        ];
        within.into_iter().try_for_each(|arguments| ip(&[&inside[..], arguments].concat()))
    }

    /// Starts the command. `TIDEGATE_OUTSIDE` is the address of this machine for it, and
    /// `TIDEGATE_INSIDE` its own.
    ///
    /// # Errors
    /// There is no such command.
    pub fn start(&self, command: &[OsString]) -> Result<Child, Failure> {
        let [ours, theirs] = self.addresses.map(|address| address.to_string());
        let mut child = Command::new("ip");
        child.args(["netns", "exec", &self.namespace]).args(command);
        child.env("TIDEGATE_OUTSIDE", ours).env("TIDEGATE_INSIDE", theirs);
        child.spawn().at(command.first().map_or("ip".into(), |name| name.to_string_lossy()))
    }
}

/// Where iproute2 keeps the names of namespaces.
const NAMESPACES: &str = "/run/netns";
/// Begins the name of each namespace of this program; the number of its process follows.
const OURS: &str = "tidegate-";

/// Removes namespaces that emulators which were killed (SIGKILL) have left, and that no process is in.
fn remove_left(names: &Path, processes: &Path) {
    for namespace in left(names, processes) {
        let Ok(inside) = pids(&namespace) else { continue };
        if !inside.is_empty() {
            eprintln!("tidegated: {}", in_use(&namespace, &inside));
            continue;
        }
        match ip(&["netns", "delete", &namespace]) {
            Ok(()) => eprintln!("tidegated: removed {namespace}, which a killed emulator left"),
            Err(failure) => eprintln!("tidegated: {failure}"),
        }
    }
}

/// Why a namespace that a killed emulator left is not removed.
fn in_use(namespace: &str, inside: &[Pid]) -> String {
    let numbers: Vec<_> = inside.iter().map(|process| process.as_raw_pid().to_string()).collect();
    format!(
        "{namespace}, which a killed emulator left, stays as long as its command runs (process {})",
        numbers.join(", ")
    )
}

/// The namespaces of emulators whose process is gone.
fn left(names: &Path, processes: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(names) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let gone = |name: &String| {
        let number = name.strip_prefix(OURS).and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| !processes.join(number.to_string()).exists())
    };
    names.filter(gone).collect()
}

/// The processes in a namespace.
fn pids(namespace: &str) -> Result<Vec<Pid>, Failure> {
    let arguments = ["netns", "pids", namespace];
    let output = Command::new("ip").args(arguments).output().at("ip netns pids")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect())
}

/// Ends what the command has left in the namespace, which has no link any more.
fn end_all(namespace: &str) {
    let began = Instant::now();
    let mut asked = BTreeSet::new();
    while let Ok(inside) = pids(namespace) {
        if inside.is_empty() || began.elapsed() > 2 * PATIENCE {
            return;
        }
        for (process, signal) in due(&inside, &mut asked, began.elapsed() < PATIENCE) {
            // it may have ended meanwhile
            let _ = kill_process(process, signal);
        }
        thread::sleep(LOOK);
    }
}

/// The signals that are due: each process is asked once to end, and has to when patience is over.
fn due(inside: &[Pid], asked: &mut BTreeSet<i32>, patient: bool) -> Vec<(Pid, Signal)> {
    let signal = if patient { Signal::TERM } else { Signal::KILL };
    let new = inside.iter().filter(|process| asked.insert(process.as_raw_pid()) || !patient);
    new.map(|process| (*process, signal)).collect()
}

impl Drop for Behind {
    fn drop(&mut self) {
        end_all(&self.namespace);
        if let Err(failure) = ip(&["netns", "delete", &self.namespace]) {
            eprintln!("tidegated: {failure}");
        }
    }
}

/// How long a command may take to end that was asked to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sets `stop` when the command has ended, and ends the command when `stop` is set.
pub fn watch(mut child: Child, stop: Arc<AtomicBool>) -> thread::JoinHandle<Option<ExitStatus>> {
    thread::spawn(move || {
        let mut asked = None;
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                stop.store(true, Ordering::Relaxed);
                return Some(status);
            }
            match asked {
                None if stop.load(Ordering::Relaxed) => {
                    asked = Some(Instant::now());
                    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                    _ = process.map(|process| kill_process(process, Signal::TERM));
                }
                Some(at) if at.elapsed() > PATIENCE => _ = child.kill(),
                _ => {}
            }
            thread::sleep(LOOK);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // A namespace whose process runs is in use, and one of another name is somebody else's.
    #[test]
    fn only_namespaces_of_processes_that_are_gone_are_left() {
        let folder = std::env::temp_dir().join(format!("tidegate-left-{}", std::process::id()));
        let (names, processes) = (folder.join("netns"), folder.join("proc"));
        std::fs::create_dir_all(&names).expect("a folder");
        std::fs::create_dir_all(processes.join("7")).expect("a folder");
        for name in ["tidegate-7", "tidegate-8", "tidegate-x", "other-8"] {
            std::fs::write(names.join(name), "").expect("a file");
        }
        let found = left(&names, &processes);
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert_eq!(found, ["tidegate-8"]);
    }

    // A command that logs or cleans up at SIGTERM did so 250 times.
    #[test]
    fn a_process_is_asked_once_to_end() {
        let [one, two] = [7, 8].map(|raw| Pid::from_raw(raw).expect("a number"));
        let mut asked = BTreeSet::new();
        assert_eq!(due(&[one], &mut asked, true), [(one, Signal::TERM)]);
        assert_eq!(due(&[one, two], &mut asked, true), [(two, Signal::TERM)]);
        assert_eq!(due(&[one, two], &mut asked, true), []);
        assert_eq!(due(&[two], &mut asked, false), [(two, Signal::KILL)]);
    }

    #[test]
    fn who_keeps_a_namespace_is_named() {
        let inside = [7, 8].map(|raw| Pid::from_raw(raw).expect("a number"));
        let said = in_use("tidegate-5", &inside);
        assert!(said.contains("tidegate-5") && said.ends_with("(process 7, 8)"), "{said}");
    }

    /// RFC 6598, 7: 100.64.0.0/10 is 100.64.0.0 to 100.127.255.255. Two processes have other pairs.
    #[test]
    fn addresses_are_of_the_shared_range() {
        assert_eq!(addresses(0), [Ipv4Addr::new(100, 64, 0, 0), Ipv4Addr::new(100, 64, 0, 1)]);
        let [first, last] = addresses(PAIRS - 1);
        assert_eq!([first, last].map(|one| one.octets()[0..2] == [100, 127]), [true, true]);
        assert_eq!(last, Ipv4Addr::new(100, 127, 255, 255));
        assert_ne!(addresses(7), addresses(8));
    }
}
