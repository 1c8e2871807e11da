//! The nodes of a testbed as processes of this machine, on loopback.
//!
//! Each node ends when its standard input is closed (`--exit-on-stdin-close`). So no node survives
//! the process that started it, however that ends.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tidegate_core::active::Address;
use tracing::{info, warn};

use super::plan::{Places, Testbed};
use crate::node::config::Config;
use crate::node::control::Remote;
use crate::node::run::Ready;
use crate::node::status::Status;
use tidegate_common::fail::{At, Failure};

/// Longest wait for a node to start, and to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often nodes are asked whether they are done.
const LOOK: Duration = Duration::from_millis(250);

/// A running node.
#[derive(Debug)]
struct Process {
    child: Child,
    control: Option<Remote>,
}

/// A running testbed; its nodes end when it is dropped.
#[derive(Debug)]
pub struct Running {
    program: PathBuf,
    folder: PathBuf,
    places: Places,
    nodes: BTreeMap<String, Process>,
    /// Longest delay of a datagram if all queues are empty.
    under_way: Duration,
}

impl Running {
    /// Starts all nodes; `program` is `tidegated`, and configurations go to `folder`.
    ///
    /// # Errors
    /// A node does not start.
    pub fn start(testbed: &Testbed, program: &Path, folder: &Path) -> Result<Running, Failure> {
        // another process can take a port between the search and its use
        let mut last = None;
        for _ in 0..3 {
            match Running::try_start(testbed, program, folder) {
                Ok(running) => return Ok(running),
                Err(failure) => last = Some(failure),
            }
        }
        Err(last.unwrap_or_else(|| Failure::failed("testbed", "it did not start")))
    }

    fn try_start(testbed: &Testbed, program: &Path, folder: &Path) -> Result<Running, Failure> {
        let places = free_places(testbed)?;
        let keys = testbed.link.iter().map(|_| new_key()).collect::<Result<Vec<_>, _>>()?;
        let configs = testbed.configs(&places, &keys);
        let mut running = Running::nodes(&configs, places, program, folder)?;
        running.under_way = Duration::from_secs_f64(testbed.longest_delay().secs());
        Ok(running)
    }

    /// Starts nodes at these addresses.
    pub(super) fn nodes(
        configs: &[Config],
        places: Places,
        program: &Path,
        folder: &Path,
    ) -> Result<Running, Failure> {
        fs::create_dir_all(folder).at(folder.display())?;
        let (program, folder) = (program.to_owned(), folder.to_owned());
        let (nodes, under_way) = (BTreeMap::new(), Duration::ZERO);
        let mut running = Running { program, folder, places, nodes, under_way };
        for config in configs {
            let text = toml::to_string(config).at(&config.name)?;
            let path = running.config_of(&config.name);
            write_secret(&path, &text).at(path.display())?;
            running.spawn(&config.name)?;
        }
        running.await_all()?;
        info!(nodes = running.nodes.len(), "up");
        Ok(running)
    }

    fn config_of(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// Starts the process of a node without waiting for it.
    fn spawn(&mut self, name: &str) -> Result<(), Failure> {
        let child = Command::new(&self.program)
            .args(["node", "--exit-on-stdin-close", "--config"])
            .arg(self.config_of(name))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .at(self.program.display())?;
        self.nodes.insert(name.to_owned(), Process { child, control: None });
        Ok(())
    }

    /// Waits until every node is ready.
    fn await_all(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        for (name, process) in
            self.nodes.iter_mut().filter(|(_, process)| process.control.is_none())
        {
            let line = first_line(&mut process.child, deadline).ok_or_else(|| {
                Failure::failed(
                    format!("node `{name}`"),
                    "it did not start; its messages are above",
                )
            })?;
            let ready: Ready = serde_json::from_str(&line).at(name)?;
            process.control = ready.control.map(Remote::new);
        }
        Ok(())
    }

    /// The addresses of the nodes.
    pub fn places(&self) -> &Places {
        &self.places
    }

    fn remote(&self, name: &str) -> Result<Remote, Failure> {
        let remote = self.nodes.get(name).and_then(|process| process.control);
        remote.ok_or("it is not running").at(format!("node `{name}`"))
    }

    /// Starts all sources.
    ///
    /// # Errors
    /// A node does not answer.
    pub fn begin(&self) -> Result<(), Failure> {
        self.nodes.keys().try_for_each(|name| self.remote(name)?.begin())
    }

    /// The status of a node.
    ///
    /// # Errors
    /// It does not answer.
    pub fn status(&self, name: &str) -> Result<Status, Failure> {
        self.remote(name)?.status()
    }

    /// The status of every running node.
    ///
    /// # Errors
    /// One does not answer.
    pub fn statuses(&self) -> Result<BTreeMap<String, Status>, Failure> {
        self.nodes.keys().map(|name| Ok((name.clone(), self.status(name)?))).collect()
    }

    /// The control of a node.
    ///
    /// # Errors
    /// It is not running.
    pub fn control(&self, name: &str) -> Result<Remote, Failure> {
        self.remote(name)
    }

    /// Process numbers of the nodes.
    pub fn pids(&self) -> Vec<u32> {
        self.nodes.values().map(|process| process.child.id()).collect()
    }

    /// Kills a node, as if its machine had lost power.
    ///
    /// # Errors
    /// No node of that name is running, or it cannot be ended.
    pub fn kill(&mut self, name: &str) -> Result<(), Failure> {
        let place = format!("node `{name}`");
        let mut process = self.nodes.remove(name).ok_or("it is not running").at(&place)?;
        process.child.kill().at(&place)?;
        process.child.wait().map(drop).at(&place)
    }

    /// Restarts a killed node.
    ///
    /// # Errors
    /// It does not start.
    pub fn restart(&mut self, name: &str) -> Result<(), Failure> {
        self.spawn(name)?;
        self.await_all()
    }

    /// Waits until all sources are done and all queues are empty, or `duration` is over; returns
    /// whether all were done.
    ///
    /// # Errors
    /// A node does not answer.
    pub fn await_end(&self, duration: Duration) -> Result<bool, Failure> {
        let deadline = Instant::now() + duration;
        let mut quiet_since = None;
        while Instant::now() < deadline {
            std::thread::sleep(LOOK);
            let statuses = self.statuses()?;
            let busy = |status: &Status| {
                status.source.as_ref().is_some_and(|source| !source.done)
                    || status.links.iter().any(|link| link.queue_packets > 0)
            };
            if statuses.values().any(busy) {
                quiet_since = None;
                continue;
            }
            // long enough for packets in flight and their answers to arrive
            let since: Instant = *quiet_since.get_or_insert_with(Instant::now);
            if since.elapsed() > LOOK + 2 * self.under_way {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for process in self.nodes.values_mut() {
            drop(process.child.stdin.take());
        }
        let deadline = Instant::now() + PATIENCE;
        for (name, process) in &mut self.nodes {
            while Instant::now() < deadline && matches!(process.child.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(5));
            }
            if matches!(process.child.try_wait(), Ok(None)) {
                warn!(node = %name, "it did not end, and is killed");
                let _ = process.child.kill();
                let _ = process.child.wait();
            }
        }
    }
}

/// The first line that a process writes, if it is in time.
fn first_line(child: &mut Child, deadline: Instant) -> Option<String> {
    let mut reader = BufReader::new(child.stdout.take()?);
    let (said, line) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        if reader.read_line(&mut line).is_ok() {
            let _ = said.send(line);
        }
        // keep reading, so that the process never blocks on a full pipe
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    let line = line.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
    (!line.is_empty()).then_some(line)
}

/// Free loopback ports, one per node.
fn free_places(testbed: &Testbed) -> Result<Places, Failure> {
    let mut sockets = Vec::new();
    let mut places = Places::new();
    for name in testbed.node.keys() {
        // hold all of them until the last one is found, so that no two are the same
        let (socket, place) = free_socket()?;
        sockets.push(socket);
        places.insert(name.clone(), place);
    }
    Ok(places)
}

/// A socket on a free loopback port.
pub(super) fn free_socket() -> Result<(UdpSocket, Address), Failure> {
    let ip = Ipv4Addr::LOCALHOST;
    let socket = UdpSocket::bind((ip, 0)).at("127.0.0.1:0")?;
    let port = socket.local_addr().at("127.0.0.1:0")?.port();
    Ok((socket, Address { ip: ip.octets(), port }))
}

/// Writes a file with keys, which other users may not read.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let open =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    let mut file = open?;
    // a file of an earlier run keeps its mode
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())
}

/// A key for a link.
fn new_key() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    let source = "/dev/urandom";
    let mut file = fs::File::open(source).at(source)?;
    file.read_exact(&mut bytes).at(source)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
