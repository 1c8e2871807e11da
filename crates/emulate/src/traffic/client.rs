//! The client: opens the sessions of a plan at their start times, and measures them.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rustix::net::sockopt::set_tcp_congestion;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::late::Late;
use super::plan::{Plan, PlannedFlow, Sort};
use super::record::{FlowResult, Sent};
use super::request::Request;
use super::room::Room;
use super::server::{HAVE_ALL, LINGER};
use super::socket::{self, Info, drain, end_data, read_byte, write_all, write_zeros};
use tidegate_common::fail::{At, Failure};

/// Smallest segment that Linux takes, and payload of a full one on Ethernet with timestamps.
const SMALLEST: u32 = 88;
const FULL: u32 = 1448;
/// Bytes of an upload that are handed over with its request.
const PIECE: usize = 1 << 16;
/// Longest wait for the server's records.
const ANSWER: Duration = Duration::from_secs(20);
/// Pause between the end of a run and that request: late answers to openers arrive meanwhile.
const REST: Duration = Duration::from_millis(500);

/// The result of a run.
pub struct RunResult {
    /// The flows that started, with their results.
    pub records: Vec<(PlannedFlow, FlowResult)>,
    /// Largest delay of a start after its planned time, seconds.
    pub latest_start: f64,
    /// How late this process was woken, 95 of 100 times at most, seconds.
    pub late_p95: f64,
    /// Why every session failed, if each was broken off: that is no server of ours.
    pub nobody: Option<String>,
}

/// Shared by all sessions.
struct Shared {
    began: Instant,
    /// End of the run.
    end: Instant,
    to: SocketAddr,
    run: u64,
    room: Room,
    /// Sessions that the other end broke off or refused, and how the first did.
    broken: RefCell<(usize, String)>,
}

impl Shared {
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

/// Opens the sessions of the plan, and returns their results at the end.
///
/// # Errors
/// There is no server, the kernel lacks a congestion control, or this machine has no room for a
/// session.
pub async fn run(plan: &Plan, to: SocketAddr, run: u64) -> Result<RunResult, Failure> {
    try_controls(plan, to)?;
    let began = Instant::now();
    let shared = Rc::new(Shared {
        began,
        end: began + Duration::from_secs_f64(plan.duration.secs()),
        to,
        run,
        room: Room::default(),
        broken: RefCell::default(),
    });
    let late = Late::default();
    let work = async {
        let mut records = open(plan, &shared).await;
        // nobody is there to be asked, or it is no server of ours
        if shared.broken.borrow().0 == records.len() && !records.is_empty() {
            return Ok(records);
        }
        // what parts with the last sessions goes on meanwhile
        if plan.flows.iter().any(|flow| flow.download) {
            for (flow, sent) in sent(&shared).await? {
                if let Some((_, record)) = records.get_mut(flow as usize) {
                    record.sent = sent;
                }
            }
        }
        Ok(records)
    };
    let records = LocalSet::new()
        .run_until(async {
            tokio::select! {
                failure = shared.room.none(to) => Err(failure),
                never = late.record() => match never {},
                records = work => records,
            }
        })
        .await?;
    let starts = records.iter().map(|(flow, record)| record.start - flow.start.secs());
    let latest_start = starts.fold(0.0, f64::max);
    let (broken, first) = shared.broken.borrow().clone();
    let nobody = (broken > 0 && broken == records.len()).then_some(first);
    Ok(RunResult { records, latest_start, late_p95: late.p95(), nobody })
}

/// Opens each session at its time; returns their results when all are over.
async fn open(plan: &Plan, shared: &Rc<Shared>) -> Vec<(PlannedFlow, FlowResult)> {
    let mut sessions = Vec::with_capacity(plan.flows.len());
    for (number, flow) in plan.flows.iter().enumerate() {
        sleep_until(shared.began + Duration::from_secs_f64(flow.start.secs())).await;
        let (flow, sort) = (*flow, plan.sorts[flow.class].clone());
        let shared = shared.clone();
        sessions.push(tokio::task::spawn_local(async move {
            session(number as u32, flow, sort, &shared).await
        }));
    }
    let mut records = Vec::with_capacity(sessions.len());
    for (session, flow) in sessions.into_iter().zip(&plan.flows) {
        records.push((*flow, session.await.unwrap_or_default()));
    }
    records
}

/// Fails if the kernel lacks a congestion control of the plan.
fn try_controls(plan: &Plan, to: SocketAddr) -> Result<(), Failure> {
    for sort in &plan.sorts {
        let socket =
            Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP)).at("socket")?;
        set_tcp_congestion(&socket, sort.control.name()).map_err(|error| {
            Failure::failed(format!("traffic.{}: {}", sort.name, sort.control.name()), error)
                .remedy("`sysctl net.ipv4.tcp_available_congestion_control` lists what is there")
        })?;
    }
    Ok(())
}

/// One session, until it is over, its user gives up or the run ends.
async fn session(number: u32, flow: PlannedFlow, sort: Sort, shared: &Shared) -> FlowResult {
    let record =
        Cell::new(FlowResult { start: shared.now(), syn_tries: 1, ..FlowResult::default() });
    let open = RefCell::new(None);
    let patience = sort.patience.map(|patience| Duration::from_secs_f64(patience.secs()));
    let out = patience.map(|patience| Instant::now() + patience).filter(|out| *out < shared.end);
    let work = exchange(number, flow, &sort, shared, &record, &open);
    let mut work = std::pin::pin!(work);
    let done = tokio::select! {
        done = &mut work => Some(shared.room.judge(done)),
        () = sleep_until(out.unwrap_or(shared.end)) => None,
    };
    let mut found = record.get();
    match done {
        Some(Ok(())) => return found,
        Some(Err(error)) => {
            let mut broken = shared.broken.borrow_mut();
            if broken.0 == 0 {
                broken.1 = error.to_string();
            }
            broken.0 += 1;
            found.gave_up = Some(shared.now());
        }
        None => found.gave_up = out.map(|_| shared.now()),
    }
    let stream: Option<Rc<TcpStream>> = open.take();
    if let Some(info) = stream.and_then(|stream| socket::info(&stream).ok()) {
        record_kernel_counts(&mut found, &flow, &info);
    }
    found
}

/// Records the kernel's counts at the end of a session or of the run.
fn record_kernel_counts(found: &mut FlowResult, flow: &PlannedFlow, info: &Info) {
    if found.connected.is_none() {
        found.syn_tries = 1 + info.retransmitted;
        return;
    }
    let of_syn = found.syn_tries - 1;
    if flow.download {
        // a FIN that was not read yet counts as a byte
        found.delivered = info.received.min(flow.size.unwrap_or(u64::MAX));
        return;
    }
    // the SYN counts as a byte, and so does the FIN
    found.delivered = info.acknowledged.saturating_sub(1).min(flow.size.unwrap_or(u64::MAX));
    found.sent = Sent {
        packets: info.data_sent,
        again: info.data_again,
        timeouts: info.timeouts.saturating_sub(of_syn),
        closed_after: None,
    };
}

async fn exchange(
    number: u32,
    flow: PlannedFlow,
    sort: &Sort,
    shared: &Shared,
    record: &Cell<FlowResult>,
    open: &RefCell<Option<Rc<TcpStream>>>,
) -> io::Result<()> {
    let stream = connect(sort, shared, open).await?;
    let mut now = record.get();
    now.connected = Some(shared.now());
    let info = socket::info(&stream)?;
    now.handshake = info.rtt.as_secs_f64();
    now.syn_tries = 1 + info.retransmitted;
    record.set(now);
    // if it is dropped, it is reset at once
    SockRef::from(&*stream).set_linger(Some(Duration::ZERO))?;
    if flow.download {
        let (run, size) = (shared.run, flow.size);
        let asked = Request::Download { run, flow: number, size, control: sort.control };
        write_all(&stream, &asked.encode()).await?;
        now.delivered = drain(&stream).await?;
        record.set(now);
        if flow.size.is_some_and(|size| size != now.delivered) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        now.ended = Some(shared.now());
        record.set(now);
        return part(stream, Some(HAVE_ALL));
    }
    // the request is the first byte of the data
    let mut first = vec![0; flow.size.map_or(PIECE, |size| PIECE.min(size.max(1) as usize))];
    first[0] = Request::UPLOAD;
    write_all(&stream, &first).await?;
    let rest = flow.size.map(|size| size.saturating_sub(first.len() as u64));
    match rest {
        Some(_) => write_zeros(&stream, rest).await?,
        None => {
            let stop = shared.began + Duration::from_secs_f64(sort.stop.secs());
            let left = stop.saturating_duration_since(Instant::now());
            if let Ok(done) = timeout(left, write_zeros(&stream, None)).await {
                done?;
            }
        }
    }
    end_data(&stream)?;
    read_byte(&stream).await?;
    now.ended = Some(shared.now());
    record_kernel_counts(&mut now, &flow, &socket::info(&stream)?);
    record.set(now);
    part(stream, None)
}

/// Closes a completed session in the background.
fn part(stream: Rc<TcpStream>, last: Option<u8>) -> io::Result<()> {
    SockRef::from(&*stream).set_linger(None)?;
    tokio::task::spawn_local(async move {
        if let Some(last) = last {
            let _ = write_all(&stream, &[last]).await;
        }
        tokio::time::sleep(LINGER).await;
    });
    Ok(())
}

/// Connects with the segment size and the congestion control of the class; `open` has the socket
/// from the first SYN on.
async fn connect(
    sort: &Sort,
    shared: &Shared,
    open: &RefCell<Option<Rc<TcpStream>>>,
) -> io::Result<Rc<TcpStream>> {
    let socket = Socket::new(Domain::for_address(shared.to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    if sort.mss < FULL {
        // the option counts the timestamps with the payload
        socket.set_tcp_mss(sort.mss.max(SMALLEST) + 12)?;
    }
    set_tcp_congestion(&socket, sort.control.name())?;
    match socket.connect(&shared.to.into()) {
        Err(error)
            if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) =>
        {
            return Err(error);
        }
        _ => {}
    }
    let stream = Rc::new(TcpStream::from_std(socket.into())?);
    open.replace(Some(stream.clone()));
    stream.writable().await?;
    match stream.take_error()? {
        Some(error) => Err(error),
        None => Ok(stream),
    }
}

/// The server's records of this run.
async fn sent(shared: &Shared) -> Result<Vec<(u32, Sent)>, Failure> {
    tokio::time::sleep(REST).await;
    let ask = async {
        let socket = if shared.to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        let mut stream = socket.connect(shared.to).await?;
        write_all(&stream, &Request::Records { run: shared.run }.encode()).await?;
        let mut text = Vec::new();
        stream.read_to_end(&mut text).await?;
        serde_json::from_slice(&text).map_err(io::Error::from)
    };
    let answer = timeout(ANSWER, ask).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    answer.map_err(|error| {
        Failure::failed(shared.to, format!("the server does not say what it sent: {error}"))
            .remedy("is it `tidegated traffic serve`, and does the gate never refuse its port?")
    })
}
