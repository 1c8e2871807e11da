//! One process: a gate at each of some interfaces, side by side in one thread.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use tidegate_common::fail::{At, Failure};
use tidegate_common::output;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;

use super::{Controller, epochs};
use crate::config::{self, Config};
use crate::elsewhere::Elsewhere;
use crate::journal::Journal;
use crate::link::Netlink;
use crate::observe::{self, Observation, Plan};
use crate::page::Pages;
use crate::page::place::Place;
use crate::shared::Tally;
use crate::status::{Asked, Member, Socket, Status};
use crate::{metrics, privileges, program, service};

/// Runs the gates of these files, one for each interface, until SIGTERM or SIGINT; `page` is served
/// in place of the pages of the files.
///
/// # Errors
/// One cannot start: the file, the interface, the kernel. Later errors are reported, and the gates
/// go on.
pub fn run(paths: &[PathBuf], page: Option<Place>) -> Result<(), Failure> {
    let mut gates = Vec::new();
    for (path, all) in config::read_all(paths)? {
        gates.extend(all.iter().map(|config| GateFile {
            config: config.clone(),
            path: path.to_owned(),
            all: all.clone(),
            observation: None,
        }));
    }
    block_on(serve(gates, page)).map(|_| ())
}

/// Runs a gate that refuses nothing, then writes what it suggests to the file of the plan.
///
/// # Errors
/// It cannot start, or the file cannot be written.
pub fn observe(wanted: Vec<(Config, Plan)>) -> Result<(), Failure> {
    let gate = |(config, plan): (Config, Plan)| GateFile {
        path: plan.file.clone(),
        all: vec![config.clone()],
        config,
        observation: Some(Observation::new(plan)),
    };
    conclude(&block_on(serve(wanted.into_iter().map(gate).collect(), None))?)
}

/// Prints what was observed, and writes the configuration that is suggested.
fn conclude(seen: &[Observation]) -> Result<(), Failure> {
    seen.iter().for_each(|one| output::say(&one.summary()));
    let Some(first) = seen.first() else { return Ok(()) };
    let path = &first.plan.file;
    let place = path.display();
    if !seen.iter().all(Observation::saw_something) {
        return Err(
            Failure::failed(place, "not written: nothing was observed").remedy("watch for longer")
        );
    }
    output::say(&observe::suggestions(seen));
    let open = OpenOptions::new().write(true).create_new(true).open(path);
    open.and_then(|mut file| file.write_all(observe::file(seen).as_bytes())).at(&place)?;
    output::say(&format!("written: {place}\n{}", observe::next_steps(seen, path)));
    Ok(())
}

fn block_on(
    gates: impl Future<Output = Result<Vec<Observation>, Failure>>,
) -> Result<Vec<Observation>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.at("tokio")?.block_on(gates)
}

/// What a gate starts from.
struct GateFile {
    config: Config,
    path: PathBuf,
    /// The gates of this file, this one included.
    all: Vec<Config>,
    /// What it observes, where it has no file.
    observation: Option<Observation>,
}

/// Places all gates, then runs them side by side; what was observed. If one cannot be placed, none
/// is.
async fn serve(wanted: Vec<GateFile>, page: Option<Place>) -> Result<Vec<Observation>, Failure> {
    program::quiet();
    // files that name the same socket share it
    let mut sockets: BTreeMap<PathBuf, (Socket, Vec<Member>)> = BTreeMap::new();
    let mut gates: Vec<PlacedGate> = Vec::new();
    let mut pages = Pages::default();
    for each in wanted {
        let path = each.config.socket.clone();
        let place = page.clone().or(each.config.page.clone());
        let started = match sockets.entry(path) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(place) => {
                Socket::bind(place.key()).map(|socket| place.insert((socket, Vec::new())))
            }
        }
        .and_then(|(_, members)| {
            let gate = PlacedGate::start(each, members)?;
            if let (Some(place), Some(member)) = (place, members.last()) {
                pages.show(&place, &gate.controller.config.socket, member.clone());
            }
            Ok(gate)
        });
        match started {
            Ok(gate) => gates.push(gate),
            Err(failure) => {
                gates.iter_mut().for_each(|gate| gate.controller.leave());
                return Err(failure);
            }
        }
    }
    let links = match open(&gates, pages).await {
        Ok(links) => links,
        Err(failure) => {
            gates.iter_mut().for_each(|gate| gate.controller.leave());
            return Err(failure);
        }
    };
    for (path, (socket, members)) in &mut sockets {
        socket.answer_for(std::mem::take(members), links.get(path).cloned());
    }
    service::ready();
    let together = LocalSet::new();
    let running: Vec<_> = gates.into_iter().map(|gate| together.spawn_local(gate.keep())).collect();
    together
        .run_until(async {
            let mut seen = Vec::new();
            for gate in running {
                seen.extend(gate.await.at("gate")?);
            }
            Ok(seen)
        })
        .await
}

/// Opens the ports of the gates, then gives up the rights that this takes; the link of each page, by
/// socket.
async fn open(gates: &[PlacedGate], pages: Pages) -> Result<BTreeMap<PathBuf, String>, Failure> {
    metrics::serve_all(gates.iter().map(PlacedGate::metrics)).await?;
    let links = pages.serve().await?;
    privileges::drop_to_what_is_needed()?;
    for link in links.values().collect::<BTreeSet<_>>() {
        // a log is read by more people than may give orders
        if std::io::stdout().is_terminal() {
            output::say(&format!("page: {link}\n"));
        } else {
            let place = link.split('#').next().unwrap_or_default();
            tracing::info!("page: {place}; its token is said by: tidegated gate page");
        }
    }
    Ok(links)
}

/// A gate that has been placed, and what it listens to.
struct PlacedGate {
    controller: Controller,
    signals: [Signal; 3],
    inbox: mpsc::Receiver<Asked>,
    seen: watch::Receiver<Status>,
}

impl PlacedGate {
    /// Places a gate, which joins those that answer on its socket.
    fn start(
        GateFile { config, path, all, observation }: GateFile,
        members: &mut Vec<Member>,
    ) -> Result<PlacedGate, Failure> {
        let mut status = Status::default();
        status.name_settings(&config);
        let (board, seen) = watch::channel(status);
        let listen = |kind| signal(kind).at("signals");
        let signals = [
            listen(SignalKind::hangup())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::interrupt())?,
        ];
        let (orders, inbox) = mpsc::channel(4);
        members.push((seen.clone(), orders));
        let mut controller = Controller {
            netlink: Netlink::open().at("netlink")?,
            epochs: epochs(&config)?,
            mode_of_file: config.file.mode,
            shaped_again: None,
            journal: Journal::new(config.file.log.clone()),
            config,
            began_with: all,
            path,
            placed: None,
            past: Tally::default(),
            made_clsact: false,
            claim: None,
            clock_offset_ns: 0,
            looked_at: None,
            bypasses: Default::default(),
            troubles: BTreeMap::new(),
            trial: None,
            passed_before: None,
            rates_bps: [0.0; 2],
            epoch_length: Duration::ZERO,
            observation,
            elsewhere: Elsewhere::default(),
            board,
        };
        controller.begin()?;
        controller.announce();
        Ok(PlacedGate { controller, signals, inbox, seen })
    }

    /// Where its metrics are to be served, and whether they must be.
    fn metrics(&self) -> metrics::Endpoint {
        let Config { metrics, file, .. } = &self.controller.config;
        (*metrics, file.metrics.is_some(), file.interface.clone(), self.seen.clone())
    }

    /// Runs until it is ended; what it has observed.
    async fn keep(mut self) -> Option<Observation> {
        self.controller.keep(self.signals, &mut self.inbox).await;
        service::stopping();
        self.controller.leave();
        self.controller.observation.take()
    }
}
