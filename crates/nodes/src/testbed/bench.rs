//! Benchmark of a node: as many packets through one node process as it forwards.
//!
//! This process sends the datagrams and receives them again, over loopback. Only
//! the CPU time of the node's process counts, in user space and in the kernel.

use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use serde::Serialize;
use tidegate_core::active::{Address, HEADER, Header, encode};
use tidegate_core::law::greedy::lgc;
use tidegate_core::units::{Rate, Time};

use super::plan::Places;
use super::running::{Running, free_socket};
use crate::node::config::{Config, LinkConfig};
use crate::node::control::Remote;
use crate::node::status::Status;
use tidegate_common::fail::{At, Failure};

/// Datagrams per call, if the system has segmentation offload.
const TOGETHER: usize = 32;
/// Bytes of a read.
const READ: usize = 1 << 16;
/// Name of the node.
const NAME: &str = "bench";

/// The load.
#[derive(Clone, Debug)]
pub struct Load {
    /// Duration.
    pub span: Duration,
    /// Bytes of a datagram.
    pub size: usize,
    /// Whether LGC looks at the queue.
    pub lgc: bool,
    /// Whether each datagram has another origin; else all have the same.
    pub spoofed: bool,
    /// Whether each is sent alone, as different neighbours would; else with segmentation offload.
    pub single: bool,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Duration, s.
    pub wall_s: f64,
    /// CPU time of the node's process, s.
    pub node_cpu_s: f64,
    /// Datagrams that the node received.
    pub received: u64,
    /// Of these, forwarded.
    pub forwarded: u64,
    /// Datagrams that this process received again.
    pub arrived: u64,
    /// Forwarded per second of CPU time: the capacity of one core.
    pub forwarded_per_core_s: f64,
    /// Forwarded per second.
    pub forwarded_per_s: f64,
    /// CPU time of the node per forwarded datagram, ns.
    pub cpu_ns_each: f64,
    /// Peak memory of the node, MB.
    pub peak_mb: f64,
}

/// Runs one node for a while, and measures it. `program` is `tidegated`, and `folder` gets the
/// node's configuration.
///
/// # Errors
/// No socket can be opened, or the node does not start or does not answer.
pub fn measure(load: &Load, program: &Path, folder: &Path) -> Result<Measured, Failure> {
    let (sender, from) = free_socket()?;
    let (sink, to) = free_socket()?;
    let (held, me) = free_socket()?;
    drop(held);
    let node = start(load, program, folder, (from, me, to))?;
    let stop = Arc::new(AtomicBool::new(false));
    let (counting, arrived) = count(sink, stop.clone())?;
    let (pid, remote) = (node.pids()[0], node.control(NAME)?);
    let (before, begun) = (cpu_s(pid)?, Instant::now());
    flood(load, &sender, (from, me, to), begun)?;
    let status = settled(remote)?;
    let (wall_s, node_cpu_s) = (begun.elapsed().as_secs_f64(), cpu_s(pid)? - before);
    let peak_mb = peak_mb(pid)?;
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

/// A node between two neighbours, over links that delay nothing.
fn start(
    load: &Load,
    program: &Path,
    folder: &Path,
    (from, me, to): (Address, Address, Address),
) -> Result<Running, Failure> {
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
        lgc: load.lgc.then(lgc::Config::default),
        link: vec![link("in", from), link("out", to)],
        ..Config::on_loopback(NAME, me)
    };
    let places = Places::from([(NAME.to_owned(), me)]);
    Running::nodes(&[config], places, program, folder)
}

/// Sends as many datagrams as the sockets take, for the time that was asked for.
fn flood(
    load: &Load,
    sender: &UdpSocket,
    (from, me, to): (Address, Address, Address),
    begun: Instant,
) -> Result<(), Failure> {
    let state = UdpSocketState::new(sender.into()).at("sending")?;
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
            encode(&header, &payload, &mut bytes).at("sending")?;
        }
        let segment_size = (together > 1).then_some(bytes.len() / together);
        let transmit =
            Transmit { destination, ecn: None, contents: &bytes, segment_size, src_ip: None };
        // a full socket drops the datagrams: the node is slower than this process
        if state.try_send(sender.into(), &transmit).is_err() {
            std::thread::yield_now();
        }
    }
    Ok(())
}

/// Counts arriving datagrams on another thread until `stop`.
fn count(
    sink: UdpSocket,
    stop: Arc<AtomicBool>,
) -> Result<(JoinHandle<()>, Arc<AtomicU64>), Failure> {
    let state = UdpSocketState::new((&sink).into()).at("receiving")?;
    // waits for a limited time, so that it notices `stop`
    sink.set_nonblocking(false).at("receiving")?;
    sink.set_read_timeout(Some(Duration::from_millis(20))).at("receiving")?;
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

/// The status of the node once its queues are empty.
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
    std::fs::read_to_string(&path).at(path)
}

/// CPU time of all threads of a process so far.
fn cpu_s(pid: u32) -> Result<f64, Failure> {
    let path = format!("/proc/{pid}/task");
    let tasks = std::fs::read_dir(&path).at(&path)?;
    let mut ns = 0.0;
    for task in tasks.flatten() {
        // a thread may have ended meanwhile
        let spent = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        ns += spent.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0);
    }
    Ok(ns / 1e9)
}

/// Peak memory of a process.
fn peak_mb(pid: u32) -> Result<f64, Failure> {
    let status = proc(pid, "status")?;
    let kb = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    Ok(kb.unwrap_or(f64::NAN) / 1e3)
}
