//! Checks whether a gate can work on this machine.

use std::fmt::{self, Display};
use std::path::Path;
use std::time::Duration;

use super::clean::{in_folder, is_of};
use super::filters::InterfaceSide;
use super::hook::{Attached, Hook, Site};
use super::link::{Interface, Netlink, Queue};
use super::privileges;
use super::program::{self, KernelGate};
use super::shared::{Fate, Settings, Tally};
use super::status::{Status, ask, not_seen};

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Good,
    /// A gate works, but not as well as it could.
    Poor,
    /// A gate does not work.
    Wrong,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    state: State,
    what: String,
    remedy: String,
}

impl Finding {
    fn good(what: impl Into<String>) -> Finding {
        Finding { state: State::Good, what: what.into(), remedy: String::new() }
    }
    fn poor(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { state: State::Poor, what: what.into(), remedy: remedy.into() }
    }
    fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { state: State::Wrong, what: what.into(), remedy: remedy.into() }
    }

    /// Whether no gate can work.
    pub fn is_wrong(&self) -> bool {
        self.state == State::Wrong
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.state {
            State::Good => "good ",
            State::Poor => "poor ",
            State::Wrong => "WRONG",
        };
        writeln!(f, "{mark}  {}", self.what)?;
        if self.remedy.is_empty() { Ok(()) } else { writeln!(f, "       -> {}", self.remedy) }
    }
}

/// Checks the machine, and one interface.
pub fn examine(interface: Option<&str>, watch: Duration, root: &Path) -> Vec<Finding> {
    program::quiet();
    let mut findings = vec![rights(&privileges::missing()), types(root)];
    // without rights the kernel refuses to load anything, which says nothing of the kernel
    if !findings[0].is_wrong() {
        findings.extend(programs(root));
        findings.push(hook());
    }
    findings.push(pinned_stats(root));
    match interface {
        Some(name) => at_interface(name, watch, root, &mut findings),
        None => findings.push(Finding::poor(
            "no interface was checked",
            "name the one towards the congested link: tidegated doctor --interface NAME",
        )),
    }
    findings
}

fn rights(missing: &[String]) -> Finding {
    if missing.is_empty() {
        return Finding::good("this process may load programs and change queues");
    }
    Finding::wrong(
        format!(
            "missing capabilities: {}; so it was not tried whether the programs load",
            missing.join(", ")
        ),
        "run as root (sudo tidegated doctor), or with the systemd unit, which grants them",
    )
}

fn types(root: &Path) -> Finding {
    if root.join(program::TYPES).exists() {
        return Finding::good("the kernel has type information (BTF)");
    }
    Finding::poor(
        format!("the kernel has no type information (BTF): no /{}", program::TYPES),
        "session control works; dual-queue management needs CONFIG_DEBUG_INFO_BTF=y",
    )
}

fn pinned_stats(root: &Path) -> Finding {
    let path = root.join("proc/sys/kernel/bpf_stats_enabled");
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim() == "1" => Finding::poor(
            "the kernel measures every run of every BPF program, which slows packets down",
            "after your measurement: sysctl kernel.bpf_stats_enabled=0",
        ),
        _ => Finding::good("the kernel does not measure runs of BPF programs"),
    }
}

/// Loads the program and runs it on a packet; nothing is attached.
fn programs(root: &Path) -> Vec<Finding> {
    let settings = Settings {
        ethernet: 1,
        read_queue: 1,
        opener: 2,
        ends: 1,
        end_words: 16,
        ..Settings::default()
    };
    let remedy =
        "use Linux 6.2 or newer; before, only session control without the queue length works";
    let loads = Finding::good("the gate's program loads and runs");
    match KernelGate::load(&settings, 0, &[0, u32::MAX]).and_then(|gate| gate.reads_queues()) {
        Ok(true) => vec![loads, Finding::good("it reads queues, as dual-queue management needs")],
        Ok(false) => {
            let what = "programs cannot read queues: no dual-queue management";
            let typed = root.join(program::TYPES).exists();
            let remedy =
                if typed { remedy } else { "use a kernel with type information, see above" };
            vec![loads, Finding::poor(what, remedy)]
        }
        Err(failure) => vec![Finding::wrong(failure.to_string(), remedy)],
    }
}

fn hook() -> Finding {
    Finding::good(match Hook::choose(None) {
        Hook::Tcx => "programs are attached at tcx: they end with the gate, whatever ends it",
        Hook::Clsact => "programs are attached at clsact: this kernel has no tcx (Linux 6.6)",
    })
}

fn at_interface(name: &str, watch: Duration, root: &Path, findings: &mut Vec<Finding>) {
    let mut netlink = match Netlink::open() {
        Ok(netlink) => netlink,
        Err(error) => {
            findings.push(Finding::wrong(
                format!("netlink: {error}"),
                "run on Linux, outside of a sandbox that forbids it",
            ));
            return;
        }
    };
    let found = netlink.interface(name).ok().flatten();
    let Some(interface) = found else {
        findings.push(Finding::wrong(
            format!("{name}: no such interface"),
            "`ip link` lists those of this network namespace",
        ));
        return;
    };
    let queue = netlink.queue(interface.index).ok().flatten().unwrap_or_default();
    findings.push(queue_of(name, &queue));
    findings.push(reach(name, root));
    if !watch.is_zero() {
        match count(&interface, watch) {
            Ok(tallies) => {
                let each = InterfaceSide::ALL.into_iter().zip(&tallies);
                findings.extend(each.map(|(side, tally)| sight(name, side, tally)));
            }
            Err(what) => {
                let what = format!("{name}: its traffic cannot be counted: {what}");
                findings.push(Finding::poor(what, "see above"));
            }
        }
    } else if let Some(status) = running(name, root) {
        let share = not_seen(status.unseen_share);
        findings.push(Finding::good(format!("{name}: a gate runs here; not seen by it: {share}")));
    } else {
        findings.push(Finding::poor(
            format!("{name}: its traffic was not counted"),
            "add --watch 30 to measure the share that a gate cannot see (other UDP, IPsec, tunnels)",
        ));
    }
}

/// The gate that answers for this interface at a usual socket, of one direction or of two.
fn running(name: &str, root: &Path) -> Option<Status> {
    let sockets = in_folder(&root.join("run/tidegate"));
    let states = sockets.iter().filter(|path| is_of(path, name)).filter_map(|path| ask(path).ok());
    states.flatten().find(|status| status.interface == name)
}

fn queue_of(name: &str, queue: &Queue) -> Finding {
    let shape = "set `shape` a little below the link's rate, so that the queue builds up here";
    let kind = &queue.kind;
    if !queue.holds_packets() {
        return Finding::poor(
            format!(
                "{name}: no queue: no packet waits or is dropped here, so a law with `relief` (`close-probe`) never refuses anything"
            ),
            shape,
        );
    }
    if !queue.tells_its_length() {
        return Finding::poor(
            format!(
                "{name}: the programs cannot read the length of a {kind} queue: no dual-queue management"
            ),
            shape,
        );
    }
    Finding::good(format!(
        "{name}: a {kind} queue, {} packets waiting, {} dropped",
        queue.waiting, queue.drops
    ))
}

/// Whether the real queue may be on another device.
fn reach(name: &str, root: &Path) -> Finding {
    let device = root.join(format!("sys/class/net/{name}"));
    if device.join("brport").exists() {
        return Finding::good(format!(
            "{name}: a port of a bridge; bridged packets pass the gate too"
        ));
    }
    match std::fs::read_to_string(device.join("speed"))
        .ok()
        .and_then(|text| text.trim().parse::<i64>().ok())
    {
        Some(speed) if speed >= 1_000 => Finding::poor(
            format!("{name}: a link of {speed} Mbit/s; is the congested one behind it?"),
            "if a modem behind it is slower, the queue is in the modem: set `shape`",
        ),
        Some(speed) if speed > 0 => Finding::good(format!("{name}: a link of {speed} Mbit/s")),
        _ => Finding::good(format!("{name}: a link of unknown speed")),
    }
}

/// Counts the traffic of both sides with programs that refuse nothing, as they have no lease.
fn count(interface: &Interface, watch: Duration) -> Result<Vec<Tally>, String> {
    let settings =
        Settings { ethernet: interface.ethernet.into(), opener: 2, ..Settings::default() };
    let text = |failure: tidegate_common::fail::Failure| failure.to_string();
    let mut netlink = Netlink::open().map_err(|error| error.to_string())?;
    let hook = Hook::choose(None);
    let has = netlink.has_clsact(interface.index).map_err(|error| error.to_string())?;
    let filters = netlink.filters(interface.index).map_err(|error| error.to_string())?;
    let site = Site { index: interface.index, hook, filters: &filters, before: &[] };
    let (mut gates, mut attached) = (Vec::new(), Vec::new());
    let mut all_attached = || {
        for side in InterfaceSide::ALL {
            let gate = KernelGate::load(&settings, 0, &[])?;
            attached.push(gate.attach_to_count(&site, side, 7_799)?);
            gates.push(gate);
        }
        Ok(())
    };
    let tallies = all_attached().map_err(text).and_then(|()| {
        std::thread::sleep(watch);
        gates.iter().map(|gate| gate.program.tally().map_err(text)).collect()
    });
    attached.into_iter().for_each(Attached::detach);
    if hook == Hook::Clsact && !has {
        netlink.remove_empty_clsact(interface.index).map_err(|error| error.to_string())?;
    }
    tallies
}

/// Reports the share of the traffic that a gate sees.
fn sight(name: &str, side: InterfaceSide, tally: &Tally) -> Finding {
    let way = match side {
        InterfaceSide::Ingress => "came in",
        InterfaceSide::Egress => "left",
    };
    let all: u64 = tally.bytes.iter().sum();
    if all == 0 {
        let what = format!("{name}: nothing {way} while it was watched");
        return Finding::poor(what, "watch for longer");
    }
    let Some(unseen) = tally.unseen_share().map(|share| 100.0 * share) else {
        return Finding::good(format!(
            "{name}: {all} bytes {way} while it was watched, too few, or too few that are not of ARP and ICMP, to tell what a gate sees"
        ));
    };
    let telling: u64 = Fate::ALL.into_iter().map(|fate| tally.telling(fate)).sum();
    let share = |fate: Fate| 100.0 * tally.telling(fate) as f64 / telling as f64;
    let what = format!(
        "{name}: in {unseen:.1} % of the bytes that {way} a gate sees no sessions (UDP except QUIC Initials {:.1}, encrypted or in a tunnel {:.1}, fragments {:.1}, other protocols {:.1}); {} TCP openers, {} QUIC Initials",
        share(Fate::Udp),
        share(Fate::Opaque),
        share(Fate::Fragment),
        share(Fate::OtherIp) + share(Fate::NotIp),
        tally.arrived,
        tally.of(Fate::QuicAdmitted),
    );
    if unseen < 50.0 {
        return Finding::good(what);
    }
    Finding::poor(
        what,
        "put the gate where tunnels begin, or use a queue discipline, which needs no sessions",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // A link whose traffic is mostly encrypted: the gate sees too little, and the line says how much.
    #[test]
    fn what_cannot_be_seen_is_said() {
        let mut tally = Tally::default();
        tally.bytes[Fate::Other as usize] = 250_000;
        tally.bytes[Fate::Opaque as usize] = 750_000;
        let finding = sight("wan", InterfaceSide::Ingress, &tally);
        assert_eq!(finding.state, State::Poor);
        assert!(finding.what.contains("75.0 % of the bytes that came in"), "{}", finding.what);
        assert!(finding.to_string().contains("->"), "a remedy follows");
    }

    // Half of the bytes are L2TPv3 (protocol 115) and a quarter MPLS: tunnels too.
    #[test]
    fn tunnels_of_other_protocols_are_not_seen_either() {
        let mut tally = Tally::default();
        for (fate, bytes) in
            [(Fate::Other, 250_000), (Fate::OtherIp, 500_000), (Fate::NotIp, 250_000)]
        {
            tally.bytes[fate as usize] = bytes;
        }
        let finding = sight("wan", InterfaceSide::Egress, &tally);
        let what = "in 75.0 % of the bytes that left a gate sees no sessions";
        assert!(finding.what.contains(what), "{}", finding.what);
        assert!(finding.what.contains("other protocols 75.0"), "{}", finding.what);
        assert_eq!(sight("wan", InterfaceSide::Egress, &Tally::default()).state, State::Poor);
    }

    // ARP of an idle interface hides no session.
    #[test]
    fn a_few_packets_of_arp_are_not_held_against_an_interface() {
        let mut tally = Tally::default();
        tally.bytes[Fate::NotIp as usize] = 420;
        let finding = sight("wan", InterfaceSide::Ingress, &tally);
        assert_eq!(finding.state, State::Good);
        assert!(finding.what.contains("420 bytes came in"), "{}", finding.what);
    }

    // Without rights the kernel refuses every program: that it is old would be a guess.
    #[test]
    fn who_has_no_rights_is_told_to_run_as_root() {
        let text = rights(&["CAP_BPF".to_owned()]).to_string();
        assert!(text.contains("run as root"), "{text}");
        assert!(!rights(&[]).is_wrong());
    }

    #[test]
    fn a_queue_that_holds_nothing_or_hides_its_length_is_named() {
        let queue = |kind: &str| Queue { kind: kind.to_owned(), ..Queue::default() };
        assert_eq!(queue_of("wan", &queue("noqueue")).state, State::Poor);
        assert_eq!(queue_of("wan", &queue("mq")).state, State::Poor);
        assert_eq!(queue_of("wan", &queue("tbf")).state, State::Good);
    }
}
