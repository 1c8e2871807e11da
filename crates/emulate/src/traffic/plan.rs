//! The flows of a scenario, in the order of their starts.

use std::fmt::Display;

use tidegate_core::units::Time;
use tidegate_model::control::TcpControl;
use tidegate_model::draw::ClassDraws;
use tidegate_model::scenario::{Class, End, FlowSize, Scenario};

use tidegate_common::fail::Failure;

/// Most flows of a run.
const MOST_FLOWS: usize = 2_000_000;

/// A session of the plan.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlannedFlow {
    /// When it starts.
    pub start: Time,
    /// Size in bytes; none: unlimited, until `stop`.
    pub size: Option<u64>,
    /// Whether the end that opens it receives the data.
    pub download: bool,
    /// Index of its class in the plan.
    pub class: usize,
}

/// The common settings of a class's sessions.
#[derive(Clone, PartialEq, Debug)]
pub struct Sort {
    /// Its name in the scenario.
    pub name: String,
    /// How long a user waits.
    pub patience: Option<Time>,
    /// Largest payload of a segment, bytes.
    pub mss: u32,
    /// The congestion control of the sender.
    pub control: TcpControl,
    /// When unlimited flows end.
    pub stop: Time,
}

/// All sessions of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Their classes.
    pub sorts: Vec<Sort>,
    /// The sessions, by start.
    pub flows: Vec<PlannedFlow>,
    /// When the run ends.
    pub duration: Time,
}

impl Plan {
    /// The sessions of the scenario under this seed; only of these classes, if any are named.
    ///
    /// # Errors
    /// A class does not exist, is not TCP, or has sessions between other hosts.
    pub fn new(scenario: &Scenario, seed: u64, classes: &[String]) -> Result<Plan, Failure> {
        let chosen = choose(scenario, classes)?;
        let mut plan = Plan { sorts: Vec::new(), flows: Vec::new(), duration: scenario.duration };
        for (place, class) in chosen.into_iter().enumerate() {
            plan.sorts.push(sort(class, scenario.duration)?);
            let mut draws = ClassDraws::new(seed, class);
            while let Some(flow) = draws.next_flow().filter(|flow| flow.start < scenario.duration) {
                if plan.flows.len() == MOST_FLOWS {
                    let what = format!("more than {MOST_FLOWS} sessions");
                    return Err(wrong(&class.name, what).remedy("shorten the scenario"));
                }
                let download = flow.opens == End::Receiver;
                let (start, size) = (flow.start, flow.size);
                plan.flows.push(PlannedFlow { start, size, download, class: place });
            }
        }
        plan.flows.sort_by_key(|flow| (flow.start, flow.class));
        Ok(plan)
    }
}

fn wrong(class: &str, what: impl Display) -> Failure {
    Failure::usage(format!("traffic.{class}"), what)
}

/// The named classes, or all.
fn choose<'a>(scenario: &'a Scenario, names: &[String]) -> Result<Vec<&'a Class>, Failure> {
    for name in names {
        if !scenario.traffic.iter().any(|class| class.name == *name) {
            let known = scenario.traffic.iter().map(|class| class.name.as_str());
            return Err(wrong(name, "the scenario has no such class")
                .remedy(format!("it has {}", known.collect::<Vec<_>>().join(", "))));
        }
    }
    let asked = |class: &&Class| names.is_empty() || names.contains(&class.name);
    let chosen: Vec<&Class> = scenario.traffic.iter().filter(asked).collect();
    if let Some(other) = chosen.iter().find(|class| class.opens != chosen[0].opens) {
        return Err(wrong(&other.name, "its sessions are opened at the other end")
            .remedy("name the classes that one end opens: --class NAME"));
    }
    Ok(chosen)
}

fn sort(class: &Class, duration: Time) -> Result<Sort, Failure> {
    let Some(tcp) = class.transport.tcp() else {
        return Err(wrong(&class.name, "it is UDP, and real sessions are TCP")
            .remedy("name the others: --class NAME"));
    };
    for (given, what) in [
        (class.video().is_some(), "its sessions are those of viewers of video, who ask bit by bit"),
        (class.pages().is_some(), "its users load pages over connections of many objects"),
    ] {
        if given {
            return Err(wrong(&class.name, what).remedy("name the others: --class NAME"));
        }
    }
    let stop = match class.size {
        FlowSize::Unlimited { stop } => stop.min(duration),
        _ => duration,
    };
    Ok(Sort {
        name: class.name.clone(),
        patience: class.patience,
        mss: tcp.mss,
        control: tcp.control,
        stop,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tidegate_model::{Source, load};

    use super::*;

    fn scenario(traffic: &str) -> Scenario {
        let text = format!(
            "name = 'a'\nduration = '10s'\n[topology.dumbbell]\npairs = 1\n\
             access = {{ rate = '1Gbit', delay = '1ms' }}\n\
             bottleneck = {{ rate = '10Mbit', delay = '10ms', buffer = '1bdp' }}\n{traffic}"
        );
        load(Source { name: "a", text: &text }, &[], &BTreeMap::new()).expect("it is right")
    }

    const WEB: &str = "[traffic.web]\narrivals = { at = ['1s', '3s', '11s'] }\nsize = '10kB'\n\
                       transport = { tcp = { profile = 'linux', control = 'bbr' } }\n";
    const BULK: &str = "[traffic.bulk]\narrivals = { at = ['2s'] }\nsize = 'unlimited'\n\
                        direction = 'download'\ntransport = { tcp = { profile = 'linux' } }\n";

    // A session that would start after the end is left out; a download is opened by its receiver.
    #[test]
    fn the_flows_of_a_class_are_those_of_the_scenario() {
        let scenario = scenario(&format!("{WEB}{BULK}"));
        let plan = Plan::new(&scenario, 1, &["web".to_owned()]).expect("it is there");
        let starts: Vec<_> = plan.flows.iter().map(|flow| (flow.start.secs(), flow.size)).collect();
        assert_eq!(starts, [(1.0, Some(10_000)), (3.0, Some(10_000))]);
        assert_eq!(plan.sorts[0].control, TcpControl::Bbr);
        let plan = Plan::new(&scenario, 1, &["bulk".to_owned()]).expect("it is there");
        assert_eq!((plan.flows[0].size, plan.flows[0].download), (None, true));
    }

    #[test]
    fn what_cannot_be_opened_here_is_refused_with_the_way_out() {
        let both = scenario(&format!("{WEB}{BULK}"));
        let said = |found: Result<Plan, Failure>| found.expect_err("it is wrong").to_string();
        assert!(said(Plan::new(&both, 1, &[])).contains("--class"));
        assert!(said(Plan::new(&both, 1, &["wab".to_owned()])).contains("it has web, bulk"));
        let udp = "[traffic.video]\narrivals = { at = ['1s'] }\nsize = 'unlimited'\n\
                   transport = { udp = { rate = '1Mbit' } }\n";
        assert!(said(Plan::new(&scenario(udp), 1, &[])).contains("UDP"));
        let pages = "[traffic.web]\narrivals = { at = ['1s'] }\nsize = '10kB'\npages = {}\n";
        assert!(said(Plan::new(&scenario(pages), 1, &[])).contains("load pages"));
    }
}
