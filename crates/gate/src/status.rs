//! The state of a running gate: one line of JSON for each connection to its socket.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot, watch};

use super::config::{Config, Direction};
use super::epoch::QueueEpoch;
use super::orders::{GateOrder, PAGE};
use super::shared::{Fate, Tally};
use super::who::Client;
use tidegate_common::fail::Failure;

/// The state of a gate. Totals are since the gate began, other counts are of the last epoch. A gate of
/// an earlier version may lack some of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Interface whose outgoing packets are controlled.
    pub interface: String,
    /// `down` or `up`, where the gate's file says it; else empty.
    pub direction: String,
    /// Whether the programs are attached.
    pub attached: bool,
    /// Where: `tcx` or `clsact`; empty: they were not attached yet.
    pub hook: String,
    /// `observe` or `enforce`.
    pub mode: String,
    /// Name of the law.
    pub law: String,
    /// What it admits: `connections`, `clients` or `visits`; empty where it can tell none apart.
    pub admits: String,
    /// Its phase.
    pub phase: String,
    /// Sessions allowed per epoch; null: everything passes.
    pub set: Option<f64>,
    /// The measure that it was decided from.
    pub from: Option<f64>,
    /// Epochs since the start.
    pub epochs: u64,
    /// Openers of the last epoch.
    pub arrived: u64,
    /// Of these, admitted.
    pub admitted: u64,
    /// Sessions that ended in it.
    pub departed: u64,
    /// Sessions that were reset in it.
    pub resets: u64,
    /// Packets that the queue dropped in it.
    pub drops: u64,
    /// Packets that the queue dropped since the start.
    pub drops_total: u64,
    /// Kind of the queue.
    pub queue: String,
    /// Waiting packets.
    pub waiting: u32,
    /// Fewest packets that waited in the last epoch.
    pub min_waiting: u32,
    /// Bits per second that left by the interface in the last epoch.
    pub rate_bps: f64,
    /// Bits per second that came in by the interface in the last epoch.
    pub received_bps: f64,
    /// Bytes that have left by the interface since the gate stood there first.
    pub sent_bytes: u64,
    /// `shape` or `capacity`, bits per second; zero: neither is set.
    pub link_bps: f64,
    /// Length of the last epoch, seconds.
    pub epoch_s: f64,
    /// Seconds until a trial of `enforce` ends, unless it is confirmed; null: there is none.
    pub trial_s: Option<f64>,
    /// Clients with an admitted connection, in total, each counted once in a round; zero where
    /// each connection is judged by itself.
    pub clients_served: u64,
    /// Clients that were refused before one of their connections was admitted in the round.
    pub clients_waited: u64,
    /// Openers, in total.
    pub arrived_total: u64,
    /// Openers that passed, in total; in observe mode those that would have.
    pub admitted_total: u64,
    /// Admitted sessions of which a packet came in behind the SYNs, in total; zero where that is
    /// not counted.
    pub answered_total: u64,
    /// FINs and resets counted, in total, before the correction.
    pub ended_total: u64,
    /// Packets by decision, in total.
    pub packets: Vec<(String, u64)>,
    /// Bytes by decision, in total.
    pub bytes: Vec<(String, u64)>,
    /// Dual queue: openers that arrived and openers that it dropped, in total.
    pub connections: Option<(u64, u64)>,
    /// Share of bytes whose sessions are not visible; null: too little has passed to tell.
    pub unseen_share: Option<f64>,
    /// Share of the bytes that pass the interface and not the gate, where that is most; else 0.
    pub bypassed_share: f64,
    /// Whether the file asks for a view by client.
    pub who: bool,
    /// Clients that were refused most, or used most, where the file asks for it.
    pub clients: Vec<Client>,
    /// Alarm: admitted sessions do not end, so nothing is refused.
    pub alarm: bool,
    /// The present error; empty: none.
    pub trouble: String,
    /// Lines of the log that were lost.
    pub log_lost: u64,
    /// Largest kernel memory of the maps, bytes.
    pub map_bytes: u64,
}

impl Status {
    /// Says what the gate's file names: interface, mode and law.
    pub(crate) fn name_settings(&mut self, config: &Config) {
        self.interface.clone_from(&config.file.interface);
        config.direction.map_or("", Direction::name).clone_into(&mut self.direction);
        config.file.mode.name().clone_into(&mut self.mode);
        config.law.as_ref().map_or("none", |law| law.name()).clone_into(&mut self.law);
        config.admits().clone_into(&mut self.admits);
        self.who = config.file.who;
        self.link_bps = config.capacity.map_or(0.0, |rate| rate.bps() as f64);
    }

    /// Sets the totals.
    pub fn count(&mut self, tally: &Tally) {
        let named = |numbers: &[u64]| {
            Fate::ALL
                .iter()
                .map(|fate| fate.name().to_owned())
                .zip(numbers.iter().copied())
                .collect()
        };
        self.packets = named(&tally.packets);
        self.bytes = named(&tally.bytes);
        (self.arrived_total, self.admitted_total) = (tally.arrived, tally.passed());
        (self.clients_served, self.clients_waited) = (tally.served, tally.waited);
        self.answered_total = tally.answered;
        self.ended_total = tally.departed + tally.resets + tally.idle_ended;
        self.unseen_share = tally.unseen_share();
    }

    /// Sets what the queue did in the last epoch.
    pub fn count_queue(&mut self, queue: &QueueEpoch, rate_bps: f64) {
        self.drops_total += queue.drops;
        (self.drops, self.waiting) = (queue.drops, queue.waiting);
        (self.min_waiting, self.rate_bps) = (queue.min_waiting, rate_bps);
    }

    /// Openers that were refused since the start: by the law, of TCP and QUIC, and by the queue.
    pub fn refused(&self) -> u64 {
        let by_queue = self.connections.map_or(0, |(_, lost)| lost);
        self.of(Fate::Refused) + self.of(Fate::QuicRefused) + by_queue
    }

    /// Packets of one fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.packets.get(fate as usize).map_or(0, |(_, number)| *number)
    }
}

/// An order to the controller, and where its answer goes.
pub type Asked = (GateOrder, oneshot::Sender<Result<String, Failure>>);

/// How long a client may take to send an order; one that sends none gets the status.
const ORDER_WITHIN: Duration = Duration::from_millis(100);

/// Why a gate has no link of a page.
const NO_PAGE: &str =
    "this gate has no page: set `page` in its file, or start it with --page 127.0.0.1:9478";

/// A gate that answers on a socket: its status, and where it takes orders.
pub type Member = (watch::Receiver<Status>, mpsc::Sender<Asked>);

/// A socket; it is removed when its gates end.
pub struct Socket {
    path: std::path::PathBuf,
    listener: Option<UnixListener>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        // it may be gone already
        let _ = fs::remove_file(&self.path);
    }
}

impl Socket {
    /// Makes a socket; a client waits until it is answered.
    ///
    /// # Errors
    /// The socket cannot be created, or another gate answers on it.
    pub fn bind(path: &Path) -> Result<Socket, Failure> {
        let place = path.display();
        let failed = |error: io::Error| Failure::failed(place.to_string(), error);
        if UnixStream::connect(path).is_ok() {
            return Err(Failure::failed(place, "another gate answers on this socket")
                .remedy("end it first, or set another `socket`"));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        if path.is_dir() {
            return Err(Failure::usage(place, "socket: this is a folder")
                .remedy("name a file in it: socket = \".../gate.sock\""));
        }
        // left by a gate that was killed
        if fs::symlink_metadata(path).is_ok_and(|there| there.file_type().is_socket()) {
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = Some(UnixListener::bind(path).map_err(failed)?);
        Ok(Socket { path: path.to_owned(), listener })
    }

    /// Answers for these gates, whose page is opened by that link, as a task of the present runtime.
    pub fn answer_for(&mut self, gates: Vec<Member>, page: Option<String>) {
        let Some(listener) = self.listener.take() else { return };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, gates.clone(), page.clone()));
            }
        });
    }
}

/// Answers a client: an order, the link of the page, or else the status of each gate.
async fn answer(stream: tokio::net::UnixStream, gates: Vec<Member>, page: Option<String>) {
    let mut stream = BufReader::new(stream);
    let mut text = String::new();
    let read = async { (&mut stream).take(100).read_line(&mut text).await };
    // without an order in time, the client wants the status
    let _ = tokio::time::timeout(ORDER_WITHIN, read).await;
    let line = if text.trim().is_empty() {
        let states = gates
            .iter()
            .map(|(status, _)| serde_json::to_string(&*status.borrow()).unwrap_or_default());
        states.collect::<Vec<_>>().join("\n")
    } else if text.trim() == PAGE {
        page.map_or(format!("refused {NO_PAGE}"), |link| format!("done {link}"))
    } else if gone(stream.get_ref()) {
        tracing::warn!("`{}` is not obeyed: who asked for it is gone", text.trim());
        return;
    } else {
        obeyed(&text, &gates).await
    };
    // an error means that the client has closed the connection
    let line = line + "\n";
    let write = stream.get_mut().write_all(line.as_bytes());
    let _ = tokio::time::timeout(Duration::from_secs(1), write).await;
}

/// Whether nobody waits for the answer: who gave up was told that the gate does not obey, and an
/// order that it finds when it runs again must not be carried out then.
fn gone(stream: &tokio::net::UnixStream) -> bool {
    let mut asked = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&now)).is_ok() && asked[0].revents().contains(PollFlags::HUP)
}

/// Passes an order to the gates; their answers in one line.
pub(crate) async fn obeyed(text: &str, gates: &[Member]) -> String {
    let order = match text.parse() {
        Ok(order) => order,
        Err(what) => return format!("refused {what}"),
    };
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for (_, orders) in gates {
        match passed(order, orders).await {
            Ok(what) => done.push(what),
            Err(what) => refused.push(what),
        }
    }
    if refused.is_empty() {
        return format!("done {}", done.join("; "));
    }
    let others = if done.is_empty() { String::new() } else { format!("; {}", done.join("; ")) };
    format!("refused {}{others}", refused.join("; "))
}

/// Passes an order to a gate; its answer.
async fn passed(order: GateOrder, orders: &mpsc::Sender<Asked>) -> Result<String, String> {
    let ending = "the gate is ending";
    let (answer, answered) = oneshot::channel();
    orders.send((order, answer)).await.map_err(|_| ending)?;
    let obeyed = answered.await.map_err(|_| ending)?;
    obeyed.map_err(|failure| failure.to_string())
}

/// Why nothing came back from a socket: a gate that hangs, one that was killed, or none.
pub(crate) fn unanswered(path: &Path, error: &io::Error) -> Failure {
    let place = path.display();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Failure::failed(place, "a gate is there, and does not answer")
                .remedy("see its log, or start it again; sessions pass once its lease is over")
        }
        io::ErrorKind::PermissionDenied => {
            Failure::failed(place, "you may not ask the gate here").remedy(AS_ROOT)
        }
        // connect(2): a file that is no socket refuses as a socket does where nobody listens
        _ if is_no_socket(path) => Failure::failed(place, "this is no socket of a gate")
            .remedy("those of running gates are in /run/tidegate"),
        io::ErrorKind::ConnectionRefused => {
            Failure::failed(place, "no gate answers: one that was killed has left this socket")
                .remedy("remove what is left: tidegated clean; then start one")
        }
        _ => Failure::failed(place, format!("no gate answers: {error}"))
            .remedy("start one: tidegated gate --config gate.toml"),
    }
}

/// What to do where a socket is not for everybody.
pub(crate) const AS_ROOT: &str = "run as root, or with sudo: sockets of gates are root's";

fn is_no_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.file_type().is_socket())
}

/// Reads the status of each gate at a socket.
///
/// # Errors
/// No gate answers there.
pub fn ask(path: &Path) -> Result<Vec<Status>, Failure> {
    let place = path.display();
    let failed = |error: io::Error| unanswered(path, &error);
    let mut stream = UnixStream::connect(path).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).map_err(failed)?;
    // no order follows
    stream.shutdown(std::net::Shutdown::Write).map_err(failed)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(failed)?;
    let of_gate = |line| match serde_json::from_str::<Status>(line)? {
        status if status.interface.is_empty() => Err(serde_json::Error::missing_field("interface")),
        status => Ok(status),
    };
    let states = text.lines().map(of_gate).collect::<Result<Vec<_>, serde_json::Error>>();
    states.map_err(|error| Failure::failed(&place, format!("the answer is no status: {error}")))
}

/// A law with what it admits: `tide` of a scenario and of a gate's file differ in that.
pub(crate) fn by(law: &str, admits: &str) -> String {
    if admits.is_empty() { law.to_owned() } else { format!("{law} by {admits}") }
}

/// A phase of a law, as people are told; the log and the metrics have the law's word.
fn in_words(phase: &str) -> &str {
    match phase {
        "saturated" => "(the link is full)",
        "spare" => "(the link has room)",
        own => own,
    }
}

/// The status as lines for people.
pub fn lines(status: &Status) -> String {
    let refused = status.refused();
    let kept = status.of(Fate::WouldRefuse);
    let allowed = status
        .set
        .map_or("everything passes".to_owned(), |set| format!("{set:.1} an epoch allowed"));
    let trial = status.trial_s.map_or(String::new(), |left| {
        format!(" (observes again in {left:.0} s, unless confirmed)")
    });
    let attached = if status.attached {
        format!("attached at {}", status.hook)
    } else {
        "NOT ATTACHED".to_owned()
    };
    let direction = match status.direction.as_str() {
        "" => String::new(),
        direction => format!(" ({direction})"),
    };
    let mut text = format!(
        "{}{direction} {}{trial}, {attached}{}\n  {} {}: {}\n  last epoch   {} came, {} admitted, {} ended, {} broke off, {} packets lost\n  since start  {} came, {} admitted, {} refused, {} would have been, {} never refused\n  queue        {}, {} packets wait\n  not seen     {}\n",
        status.interface,
        status.mode,
        if status.alarm { ", ALARM: admitted sessions do not end, nothing is refused" } else { "" },
        by(&status.law, &status.admits),
        in_words(&status.phase),
        allowed,
        status.arrived,
        status.admitted,
        status.departed,
        status.resets,
        status.drops,
        status.arrived_total,
        status.admitted_total,
        refused,
        kept,
        status.of(Fate::Exempt),
        status.queue,
        status.waiting,
        not_seen(status.unseen_share),
    );
    text += &notes(status);
    text
}

/// How much is not seen, in words.
pub(crate) fn not_seen(share: Option<f64>) -> String {
    let told = |share| format!("{:.1} % of the bytes", 100.0 * share);
    share.map_or("too little has passed to tell".to_owned(), told)
}

/// What is said only where there is something to say.
fn notes(status: &Status) -> String {
    let mut text = String::new();
    let spared = status.of(Fate::Ceiling);
    if spared > 0 {
        text += &format!("  ceiling      {spared} spared: the law alone would refuse them too\n");
    }
    if status.clients_served > 0 {
        let (served, waited) = (status.clients_served, status.clients_waited);
        text += &format!("  clients      {served} served, {waited} waited, each once in a round\n");
        if status.set.is_some_and(|set| status.admitted as f64 > set + 1.0) {
            text += "  let in       clients that are in need no token: who stays in is refused nothing (admit = \"visits\" helps those who stay)\n";
        }
    }
    if let Some((came, lost)) = status.connections {
        text += &format!("  dual queue   {came} connection packets came, {lost} lost\n");
    }
    text += &super::who::lines(&status.clients, &status.mode, &status.direction);
    if status.log_lost > 0 {
        text += &format!("  log          {} lines could not be written\n", status.log_lost);
    }
    if !status.trouble.is_empty() {
        text += &format!("  trouble      {}\n", status.trouble);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // 300 of 1000 kilobytes are UDP that is not QUIC's first packet, 60 encrypted, 30 of another protocol
    // of IP (L2TPv3, SCTP), 10 not of IP (MPLS): 40 %.
    #[test]
    fn the_share_that_is_not_seen_is_of_bytes() {
        let mut tally = Tally::default();
        tally.bytes[Fate::Other as usize] = 600_000;
        tally.bytes[Fate::Udp as usize] = 300_000;
        tally.bytes[Fate::Opaque as usize] = 60_000;
        tally.bytes[Fate::OtherIp as usize] = 30_000;
        tally.bytes[Fate::NotIp as usize] = 10_000;
        let mut status = Status::default();
        status.count(&tally);
        assert!(status.unseen_share.is_some_and(|share| (share - 0.4).abs() < 1e-12));
        assert!(lines(&status).contains("40.0 %"));
        let idle = lines(&Status::default());
        assert!(idle.contains("not seen     too little has passed to tell\n"), "{idle}");
    }

    // A gate by clients allows 0.1 an epoch; 30 came and all were let in, as their clients are in.
    #[test]
    fn who_is_in_and_refused_nothing_is_said() {
        let status = Status {
            set: Some(0.1),
            arrived: 30,
            admitted: 30,
            clients_served: 12,
            ..Status::default()
        };
        assert!(lines(&status).contains("clients that are in need no token"));
        let refusing = Status { admitted: 1, ..status };
        assert!(!lines(&refusing).contains("let in"));
    }

    // Twelve of TCP and eight of QUIC, and thirty that the queue lost.
    #[test]
    fn what_was_refused_is_of_all_kinds() {
        let mut tally = Tally { departed: 3, resets: 1, idle_ended: 4, ..Tally::default() };
        tally.packets[Fate::Refused as usize] = 12;
        tally.packets[Fate::QuicRefused as usize] = 8;
        let mut status = Status { connections: Some((90, 30)), ..Status::default() };
        status.count(&tally);
        assert_eq!((status.refused(), status.ended_total), (50, 8));
        assert!(lines(&status).contains(" 50 refused"));
    }

    // By hand: of 371 the law let all pass, and dual-queue management then dropped 358; while the gate
    // observed it would have dropped 4 more.
    #[test]
    fn who_is_refused_behind_the_law_is_not_admitted() {
        let mut tally = Tally { arrived: 371, admitted: 371, ..Tally::default() };
        tally.packets[Fate::Connection as usize] = 358;
        tally.packets[Fate::WouldRefuse as usize] = 4;
        let mut status = Status { connections: Some((371, 358)), ..Status::default() };
        status.count(&tally);
        assert_eq!((status.admitted_total, status.refused()), (9, 358));
    }

    // A slow link has so few openers in an epoch that a ceiling lets everybody in, and says so.
    #[test]
    fn who_passed_by_the_ceiling_is_said() {
        let mut tally = Tally::default();
        tally.packets[Fate::Ceiling as usize] = 12;
        let mut status = Status::default();
        assert!(!lines(&status).contains("ceiling"));
        status.count(&tally);
        assert!(
            lines(&status).contains("ceiling      12 spared: the law alone would"),
            "{}",
            lines(&status)
        );
    }

    // What the mode is, for how long, and where the programs are: three things, not one.
    #[test]
    fn a_trial_says_what_follows_it() {
        let status = Status {
            interface: "wan0".to_owned(),
            mode: "enforce".to_owned(),
            trial_s: Some(7.0),
            attached: true,
            hook: "tcx".to_owned(),
            ..Status::default()
        };
        let line = "wan0 enforce (observes again in 7 s, unless confirmed), attached at tcx\n";
        assert!(lines(&status).starts_with(line), "{}", lines(&status));
    }

    // Two laws of one name would be taken for one.
    #[test]
    fn what_the_law_admits_is_said() {
        let (law, admits) = ("tide".to_owned(), "clients".to_owned());
        let status = Status { law, admits, phase: "open".to_owned(), ..Status::default() };
        assert!(lines(&status).contains("  tide by clients open: everything passes\n"));
    }

    #[test]
    fn lost_lines_of_the_log_are_said() {
        let status = Status { log_lost: 3, ..Status::default() };
        assert!(lines(&status).contains("log          3 lines could not be written"));
        assert!(!lines(&Status::default()).contains("log  "));
    }

    #[test]
    fn a_gate_that_hangs_is_told_apart_from_none() {
        let path = std::env::temp_dir().join(format!("tidegate-hangs-{}", std::process::id()));
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let hung = ask(&path).expect_err("nobody answers").to_string();
        std::fs::remove_file(&path).expect("the socket is there");
        assert!(hung.contains("does not answer"), "{hung}");
        let gone = ask(&path).expect_err("nobody listens").to_string();
        assert!(gone.contains("no gate answers"), "{gone}");
        let device = ask(Path::new("/dev/null")).expect_err("it is a device").to_string();
        assert!(device.contains("this is no socket"), "{device}");
        let folder = Socket::bind(&std::env::temp_dir()).err().expect("a folder").to_string();
        assert!(folder.contains("this is a folder\n  name a file in it"), "{folder}");
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let denied = unanswered(Path::new("/run/tidegate/gate.sock"), &error).to_string();
        assert!(denied.contains("run as root") && !denied.contains("start one"), "{denied}");
    }

    // An order that its giver was told has failed must not be carried out when the gate runs again.
    #[tokio::test]
    async fn an_order_whose_giver_is_gone_is_not_obeyed() {
        let path = std::env::temp_dir().join(format!("tidegate-gone-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let mut socket = Socket::bind(&path).expect("a socket");
        let (_board, seen) = watch::channel(Status::default());
        let (orders, mut inbox) = mpsc::channel(4);
        // the gate does not run yet: the kernel keeps both
        let give = |line: &str| {
            let mut stream = UnixStream::connect(&path).expect("it listens");
            io::Write::write_all(&mut stream, line.as_bytes()).expect("it is sent");
            stream.shutdown(std::net::Shutdown::Write).expect("it was open");
            stream
        };
        drop(give("enforce 60000\n"));
        let waits = give("revert\n");
        socket.answer_for(vec![(seen, orders)], None);
        let (first, _) = inbox.recv().await.expect("an order");
        assert_eq!(first, GateOrder::Revert);
        drop(waits);
    }
}
