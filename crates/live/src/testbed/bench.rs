//! How much a node costs: packets through one node process, as many as it takes.
//!
//! The datagrams come from this process and go back to it, over loopback. What
//! is counted is the CPU time of the node's process alone, in the kernel
//! included; nothing of who sends and who receives.

use std::io::{BufRead, BufReader, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use serde::Serialize;
use tidegate_core::active::{Address, HEADER, Header, encode};
use tidegate_core::law::greedy::lgc;
use tidegate_core::units::{Rate, Time};

use crate::fail::Failure;
use crate::node::config::{Config, LinkConfig};
use crate::node::control::Remote;
use crate::node::run::Ready;
use crate::node::status::Status;

/// Datagrams that are sent as one, where the system can.
const TOGETHER: usize = 32;
/// Bytes of a read.
const READ: usize = 1 << 16;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Load {
    /// For how long.
    pub span: Duration,
    /// Bytes of a datagram.
    pub size: usize,
    /// Whether LGC looks at the queue.
    pub lgc: bool,
    /// Whether each datagram claims another origin; else all are of one.
    pub spoofed: bool,
    /// Whether each is sent by itself, as different neighbours would; else many as one.
    pub single: bool,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// How long it took, s.
    pub wall_s: f64,
    /// CPU time of the node's process, s.
    pub node_cpu_s: f64,
    /// Datagrams that the node has read, and sent on.
    pub received: u64,
    /// Of these, sent on.
    pub forwarded: u64,
    /// Datagrams that came out at the other end.
    pub arrived: u64,
    /// Sent on for each second of CPU time: what one core forwards.
    pub forwarded_per_core_s: f64,
    /// Sent on for each second by the clock.
    pub forwarded_per_s: f64,
    /// CPU time of the node for each datagram that it sent on, ns.
    pub cpu_ns_each: f64,
    /// Most memory that the node had, MB.
    pub peak_mb: f64,
}

/// A node process on a leash.
struct Node {
    child: Child,
    remote: Remote,
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Runs one node for a while, and measures it. `program` is `tidegated`, and `folder` gets the
/// node's configuration.
///
/// # Errors
/// No socket can be had, or the node does not come up or not answer.
pub fn measure(load: &Load, program: &Path, folder: &Path) -> Result<Measured, Failure> {
    let (sender, from) = socket()?;
    let (sink, to) = socket()?;
    let (held, me) = socket()?;
    drop(held);
    let node = start(load, program, folder, (from, me, to))?;
    let stop = Arc::new(AtomicBool::new(false));
    let (counting, arrived) = count(sink, stop.clone())?;
    let (before, begun) = (cpu_s(node.child.id())?, Instant::now());
    flood(load, &sender, (from, me, to), begun)?;
    let status = settled(node.remote)?;
    let (wall_s, node_cpu_s) = (begun.elapsed().as_secs_f64(), cpu_s(node.child.id())? - before);
    let peak_mb = peak_mb(node.child.id())?;
    stop.store(true, Ordering::Relaxed);
    let _ = counting.join();
    let forwarded = status.sent;
    Ok(Measured {
        wall_s,
        node_cpu_s,
        received: status.received,
        forwarded,
        arrived: arrived.load(Ordering::Relaxed),
        forwarded_per_core_s: forwarded as f64 / node_cpu_s,
        forwarded_per_s: forwarded as f64 / wall_s,
        cpu_ns_each: node_cpu_s * 1e9 / forwarded.max(1) as f64,
        peak_mb,
    })
}

fn socket() -> Result<(UdpSocket, Address), Failure> {
    let failed = |error| Failure::failed("127.0.0.1:0", error);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = socket.local_addr().map_err(failed)?.port();
    Ok((socket, Address { ip: Ipv4Addr::LOCALHOST.octets(), port }))
}

/// A node between the two, whose links hold nothing up.
fn start(
    load: &Load,
    program: &Path,
    folder: &Path,
    (from, me, to): (Address, Address, Address),
) -> Result<Node, Failure> {
    let link = |name: &str, peer| LinkConfig {
        name: name.to_owned(),
        peer,
        rate: Rate::from_bps(100_000_000_000),
        delay: Time::ZERO,
        buffer: 65_536,
        detect: true,
        record: 0,
        key: None,
    };
    let config = Config {
        name: "bench".to_owned(),
        address: me,
        control: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        services: vec!["active-filter".to_owned(), "active-traceroute".to_owned()],
        lgc: load.lgc.then(lgc::Config::default),
        longest_life: Time::from_secs(3_600),
        most_connections: 1_024,
        link: vec![link("in", from), link("out", to)],
        route: Vec::new(),
        source: None,
        wait: false,
        faults: None,
    };
    let failed = |error: &dyn std::fmt::Display| Failure::failed(folder.display(), error);
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let path = folder.join("bench.toml");
    let text = toml::to_string(&config).map_err(|error| failed(&error))?;
    std::fs::write(&path, text).map_err(|error| failed(&error))?;
    let mut child = Command::new(program)
        .args(["node", "--leash", "--config"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::failed(program.display(), error))?;
    let mut line = String::new();
    let said = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
    let ready: Option<Ready> = said.and_then(|_| serde_json::from_str(&line).ok());
    let Some(control) = ready.and_then(|ready| ready.control) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(Failure::failed("node `bench`", "it did not come up; what it said is above"));
    };
    Ok(Node { child, remote: Remote::new(control) })
}

/// Sends as many datagrams as the sockets take, for the time that was asked for.
fn flood(
    load: &Load,
    sender: &UdpSocket,
    (from, me, to): (Address, Address, Address),
    begun: Instant,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::failed("sending", error);
    let state = UdpSocketState::new(sender.into()).map_err(|error| failed(&error))?;
    let together = if load.single { 1 } else { TOGETHER.min(state.max_gso_segments()).max(1) };
    let payload = vec![9; load.size.saturating_sub(HEADER)];
    let destination = SocketAddr::from((me.ip, me.port));
    let (mut bytes, mut number) = (Vec::new(), 0_u32);
    while begun.elapsed() < load.span {
        bytes.clear();
        for _ in 0..together {
            number = number.wrapping_add(1);
            let [a, b, c, d] = number.to_be_bytes();
            let source = if load.spoofed { Address { ip: [a, b, c, d], port: 1 } } else { from };
            let header = Header {
                source,
                destination: to,
                previous: from,
                number,
                life_ms: 10_000,
                ..Header::default()
            };
            encode(&header, &payload, &mut bytes).map_err(|error| failed(&error))?;
        }
        let segment_size = (together > 1).then_some(bytes.len() / together);
        let transmit =
            Transmit { destination, ecn: None, contents: &bytes, segment_size, src_ip: None };
        // what a full socket does not take is sent by nobody: the node is behind
        if state.try_send(sender.into(), &transmit).is_err() {
            std::thread::yield_now();
        }
    }
    Ok(())
}

/// Counts what arrives, on a thread of its own, until it is told to stop.
fn count(
    sink: UdpSocket,
    stop: Arc<AtomicBool>,
) -> Result<(JoinHandle<()>, Arc<AtomicU64>), Failure> {
    let failed = |error| Failure::failed("receiving", error);
    let state = UdpSocketState::new((&sink).into()).map_err(failed)?;
    // waits, but not for ever, so that it hears that it is to stop
    sink.set_nonblocking(false).map_err(failed)?;
    sink.set_read_timeout(Some(Duration::from_millis(20))).map_err(failed)?;
    let arrived = Arc::new(AtomicU64::new(0));
    let counted = arrived.clone();
    let counting = std::thread::spawn(move || {
        let mut bytes = vec![0; BATCH_SIZE * READ];
        let mut metas = vec![RecvMeta::default(); BATCH_SIZE];
        while !stop.load(Ordering::Relaxed) {
            let mut slices: Vec<_> = bytes.chunks_mut(READ).map(IoSliceMut::new).collect();
            let Ok(count) = state.recv((&sink).into(), &mut slices, &mut metas) else { continue };
            let each = |meta: &RecvMeta| meta.len.div_ceil(meta.stride.max(1)) as u64;
            counted.fetch_add(metas[..count].iter().map(each).sum(), Ordering::Relaxed);
        }
    });
    Ok((counting, arrived))
}

/// How the node is when it has nothing left to do.
fn settled(remote: Remote) -> Result<Status, Failure> {
    let mut last = remote.status()?;
    loop {
        std::thread::sleep(Duration::from_millis(50));
        let next = remote.status()?;
        if next.received == last.received && next.sent == last.sent {
            return Ok(next);
        }
        last = next;
    }
}

fn proc(pid: u32, file: &str) -> Result<String, Failure> {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).map_err(|error| Failure::failed(path, error))
}

/// CPU time of all threads of a process so far.
fn cpu_s(pid: u32) -> Result<f64, Failure> {
    let path = format!("/proc/{pid}/task");
    let tasks = std::fs::read_dir(&path).map_err(|error| Failure::failed(&path, error))?;
    let mut ns = 0.0;
    for task in tasks.flatten() {
        // a thread may have ended meanwhile
        let spent = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        ns += spent.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0);
    }
    Ok(ns / 1e9)
}

/// Most memory that a process had.
fn peak_mb(pid: u32) -> Result<f64, Failure> {
    let status = proc(pid, "status")?;
    let kb = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    Ok(kb.unwrap_or(f64::NAN) / 1e3)
}
