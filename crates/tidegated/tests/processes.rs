//! Nodes as processes on loopback: they come up, do their work, and leave nothing behind.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidegate_core::active::message::FlowMessage;
use tidegate_core::active::{Header, encode};
use tidegate_nodes::node::control::{Following, Injection};
use tidegate_nodes::node::faults::Faults;
use tidegate_nodes::testbed::bench::{Load, measure};
use tidegate_nodes::testbed::plan::{Places, Testbed};
use tidegate_nodes::testbed::report::TestbedReport;
use tidegate_nodes::testbed::running::Running;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tidegated");

/// So long a test waits for processes: no limit that they have to keep, as the machine may have other
/// work, but the end of one that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// One greedy source two hops from a node that it congests, and two that give way, for some five seconds.
const SMALL: &str = r#"
name = "small"
duration = "300s"

[node.greedy]
source = { to = "sink", packets = 1000, traffic = { bursts = { count = 10, gap = "400ms" } }, start = "300ms" }
[node.first]
[node.middle]
lgc = { max_th = 20, w = 0.05, tx = "2s" }
[node.sink]
[node.a]
source = { to = "sink", packets = 80, traffic = { responsive = { ssthresh = 8 } } }
[node.b]
source = { to = "sink", packets = 80, traffic = { responsive = { ssthresh = 8 } } }

[[link]]
between = ["greedy", "first"]
rate = "10Mbit"
buffer = 1000
[[link]]
between = ["first", "middle"]
rate = "10Mbit"
buffer = 1000
[[link]]
between = ["a", "middle"]
rate = "10Mbit"
[[link]]
between = ["b", "middle"]
rate = "10Mbit"
[[link]]
between = ["middle", "sink"]
rate = "400kbit"
buffer = 200
record = 1000
"#;

fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn testbed() -> Testbed {
    Testbed::read(Path::new("small.toml"), SMALL).expect("it is right")
}

fn start(name: &str) -> (Testbed, Running, PathBuf) {
    let (testbed, folder) = (testbed(), folder(name));
    let running = Running::start(&testbed, Path::new(PROGRAM), &folder).expect("it comes up");
    (testbed, running, folder)
}

fn alive(pid: u32) -> bool {
    // a zombie has ended: whoever reaps it is late, not the process
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z')
}

/// No process is left, and every port is free.
fn gone(pids: &[u32], places: &Places) {
    assert!(!pids.iter().any(|pid| alive(*pid)), "a process is left");
    for (name, place) in places {
        UdpSocket::bind((std::net::Ipv4Addr::from(place.ip), place.port))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// The configurations have the keys of the links: who reads one can ask for filters.
#[test]
fn only_the_owner_reads_the_keys() {
    use std::os::unix::fs::PermissionsExt;

    let (_, running, folder) = start("keys");
    let files: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().collect();
    let configs = files.iter().filter(|file| {
        std::fs::read_to_string(file.path()).is_ok_and(|text| text.contains("key = "))
    });
    let modes: Vec<_> =
        configs.map(|file| file.metadata().expect("it is there").permissions().mode()).collect();
    assert!(modes.len() >= 2, "{files:?}");
    assert!(modes.iter().all(|mode| mode & 0o777 == 0o600), "{modes:?}");
    drop(running);
}

// lgc, 5.2 in small: the filter moves from the congested node to the first hop and stays; the others get
// everything across; what was dropped where is one run each; then all is gone, and every port free.
#[test]
fn a_small_testbed_filters_the_greedy_source() {
    let (testbed, running, folder) = start("small");
    let (pids, places) = (running.pids(), running.places().clone());
    running.begin().expect("it begins");
    assert!(running.await_end(PATIENCE).expect("all answer"), "not done in time");
    let statuses = running.statuses().expect("all answer");
    let report = TestbedReport {
        testbed: &testbed,
        places: &places,
        statuses: &statuses,
        begun_us: 0,
        done: true,
    };
    for one in report.connections() {
        assert_eq!(one.delivered_share < 1.0, one.origin == "greedy", "{one:?}");
    }
    let order: Vec<_> = report
        .events()
        .into_iter()
        .filter(|row| row.phase == "filter")
        .map(|row| row.port)
        .collect();
    assert_eq!(order, ["middle", "first"]);
    let dropped = report.dropped();
    assert!(dropped.iter().all(|row| row.origin == "greedy"), "{dropped:?}");
    assert_eq!(dropped.last().map(|row| (row.node.as_str(), row.last)), Some(("first", 1_000)));
    report.write(&folder).expect("it is written");
    let events = std::fs::read_to_string(folder.join("events.csv")).expect("it is there");
    assert!(events.starts_with("time_s,port,law,phase,set,from,"), "{events}");

    drop(running);
    gone(&pids, &places);
}

// The process that started the nodes is killed: the nodes end by themselves.
#[test]
fn nodes_end_with_the_one_that_started_them() {
    let file = folder("orphans.toml");
    std::fs::create_dir_all(file.parent().expect("it has one")).expect("a folder");
    std::fs::write(&file, SMALL).expect("it is written");
    let mut testbed = Command::new(PROGRAM)
        .arg("testbed")
        .arg(&file)
        .arg("--out")
        .arg(folder("orphans"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let children = |pid: u32| -> Vec<u32> {
        let path = format!("/proc/{pid}/task/{pid}/children");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    wait_until("six nodes", || children(testbed.id()).len() == 6);
    let pids = children(testbed.id());
    testbed.kill().expect("it can be ended");
    testbed.wait().expect("it has ended");
    wait_until("the nodes end", || !pids.iter().any(|pid| alive(*pid)));
}

// A node killed in the middle and restarted at the same address: the experiment ends, everything of those
// that give way arrives.
#[test]
fn a_node_killed_and_restarted() {
    let (testbed, mut running, _) = start("killed");
    running.begin().expect("it begins");
    std::thread::sleep(Duration::from_millis(700));
    running.kill("middle").expect("it is killed");
    std::thread::sleep(Duration::from_millis(300));
    running.restart("middle").expect("it returns");
    running.await_end(PATIENCE).expect("all answer");
    let (places, statuses) = (running.places(), running.statuses().expect("all answer"));
    let report =
        TestbedReport { testbed: &testbed, places, statuses: &statuses, begun_us: 0, done: true };
    for one in report.connections().into_iter().filter(|one| one.origin != "greedy") {
        assert_eq!(one.delivered_share, 1.0, "{one:?}");
    }
}

// A tenth of everything that nodes send to each other is lost, a tenth doubled, a tenth overtaken: the
// filter reaches the first hop all the same, what gives way arrives, and nothing is left afterwards.
#[test]
fn datagrams_lost_doubled_and_overtaken() {
    let mut testbed = testbed();
    let by = tidegate_core::units::Time::from_ms(50);
    testbed.all.faults = Some(Faults { lost: 0.1, twice: 0.1, late: 0.1, by, seed: 1 });
    testbed.duration = tidegate_core::units::Time::from_secs(300);
    // a third of the round trips fails, and each failure costs a second and more
    for name in ["a", "b"] {
        let source = testbed.node.get_mut(name).and_then(|node| node.source.as_mut());
        source.expect("it sends").packets = 20;
    }
    let running =
        Running::start(&testbed, Path::new(PROGRAM), &folder("faults")).expect("it comes up");
    let (pids, places) = (running.pids(), running.places().clone());
    running.begin().expect("it begins");
    assert!(running.await_end(PATIENCE).expect("all answer"), "not done in time");
    let statuses = running.statuses().expect("all answer");
    let report = TestbedReport {
        testbed: &testbed,
        places: &places,
        statuses: &statuses,
        begun_us: 0,
        done: true,
    };
    for one in report.connections().into_iter().filter(|one| one.origin != "greedy") {
        assert_eq!(one.delivered_share, 1.0, "{one:?}");
    }
    let at_first = statuses["first"].filtered.get(&places["greedy"]);
    assert!(at_first.is_some_and(|ranges| ranges.count() > 0), "{:?}", report.dropped());
    drop(running);
    gone(&pids, &places);
}

// What a test leaves behind where it fails: nothing. The nodes go with whoever panics.
#[test]
fn nothing_is_left_after_a_panic() {
    let left = std::sync::Mutex::new((Vec::new(), Places::new()));
    let failed = std::panic::catch_unwind(|| {
        let (_, running, _) = start("panic");
        *left.lock().expect("nobody else") = (running.pids(), running.places().clone());
        running.begin().expect("it begins");
        panic!("as a failed assertion would");
    });
    assert!(failed.is_err());
    let (pids, places) = left.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert_eq!(pids.len(), 6);
    gone(&pids, &places);
}

// The same twice in a row, from the command line: the way of the filter is compared.
#[test]
fn runs_in_a_row_are_compared() {
    let file = folder("row.toml");
    std::fs::write(&file, SMALL).expect("it is written");
    let out = folder("row");
    let output = Command::new(PROGRAM)
        .arg("testbed")
        .arg(&file)
        .args(["--times", "2", "--out"])
        .arg(&out)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(
        said.ends_with("filters were set at middle (greedy), first (greedy) in each of 2 runs\n"),
        "{said}"
    );
    for run in ["run-1", "run-2"] {
        assert!(out.join(run).join("events.csv").exists());
    }
}

// The commands that ask a node, over the same road as the program.
#[test]
fn a_node_answers() {
    let (_, running, _) = start("answers");
    let (greedy, places) = (running.control("greedy").expect("it runs"), running.places());
    let following = Following { to: places["sink"], every_hop: false, wait_ms: 5_000 };
    let followed = greedy.trace(&following).expect("an answer");
    let hops: Vec<_> = followed[0].hops.iter().map(|hop| hop.node).collect();
    assert_eq!(hops, ["greedy", "first", "middle", "sink"].map(|name| places[name]));

    let mut injection = Injection {
        to: places["sink"],
        count: 3,
        payload: "hello".into(),
        service: None,
        life_ms: 5_000,
    };
    assert_eq!(greedy.send(&injection).expect("taken"), 3);
    wait_until("three packets arrive", || {
        let arrived = running.status("sink").expect("an answer").arrived;
        arrived.get(&places["greedy"]).is_some_and(|arrived| arrived.numbers.count() == 3)
    });
    // what it would drop at once it refuses, with the reason
    injection.service = Some(4_711);
    let refused = |injection: &Injection| greedy.send(injection).expect_err("refused").to_string();
    assert!(refused(&injection).contains("service = 4711: not on the menu of"));
    (injection.service, injection.life_ms) = (None, 0);
    assert!(refused(&injection).contains("life_ms = 0: write 1 or more"));
    (injection.life_ms, injection.to.port) = (5_000, 1);
    assert!(refused(&injection).contains("no route leads from"));
}

// Bytes from anywhere, well-formed and not, from invented sources: the node stays small and answers.
#[test]
fn a_flood_leaves_a_node_small() {
    let (_, running, _) = start("flood");
    let middle = running.places()["middle"];
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let to = (std::net::Ipv4Addr::from(middle.ip), middle.port);
    let payload = FlowMessage::Data { number: 1, answer: true }.encode(400);
    for number in 0..200_000u32 {
        let [a, b, c, d] = number.to_be_bytes();
        let source = tidegate_core::active::Address { ip: [a, b, c, d], port: 1 };
        let header = Header {
            source,
            destination: middle,
            previous: source,
            number,
            life_ms: 9,
            ..Header::default()
        };
        let mut bytes = Vec::new();
        encode(&header, &payload, &mut bytes).expect("it fits");
        // a full socket buffer is what a flood is
        let _ = socket.send_to(&bytes, to);
    }
    let status = running.status("middle").expect("it answers");
    assert!(status.drops["stranger"] > 0, "{:?}", status.drops);
    assert!(status.arrived.is_empty());
    for pid in running.pids() {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
        let kb: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kb < 64 * 1_024, "{kb} kB");
    }
}

// A neighbour that floods a node with packets, each of another origin: the node forwards what it can, and
// stays small. It goes on for longer where a busy machine gets too few through for a table of them to
// show. (How fast it is says `tidegated bench-node`; no time is asserted here.)
#[test]
fn a_neighbour_that_spoofs_leaves_a_node_small() {
    let spans = [2, 8, 32, 128].map(Duration::from_secs).into_iter();
    let mut found = spans.map(|span| {
        let load = Load { span, size: 200, lgc: true, spoofed: true, single: true };
        measure(&load, Path::new(PROGRAM), &folder("spoofed")).expect("it runs")
    });
    let found = found.find(|found| found.forwarded > 10_000).expect("10,000 get through");
    // every one of them is another origin; 64 MB would not hold a table of them and much else
    assert!(found.peak_mb < 64.0, "{found:?}");
    assert!(found.arrived <= found.forwarded && found.forwarded <= found.received, "{found:?}");
}

// What a user gets wrong: the exit code is 2, and the message has the place and what would be right.
#[test]
fn mistakes_are_named() {
    let file = folder("wrong.toml");
    std::fs::write(&file, SMALL.replace("to = \"sink\"", "to = \"sinc\"")).expect("it is written");
    let output = Command::new(PROGRAM)
        .arg("testbed")
        .arg(&file)
        .args(["--out", "nowhere"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no node is called `sinc`: there are a, b, first"), "{said}");
    let output =
        Command::new(PROGRAM).args(["node-status", "127.0.0.1:1"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a node running there?"));
}
