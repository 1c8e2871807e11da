//! A node as a process: one socket, one timer, no threads of its own.
//!
//! The loop sleeps until a datagram arrives or something is due. The runtime's timers are accurate
//! to a millisecond, and so is the delay of a link. Its rate is exact, as departure times are
//! computed and not waited for.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tidegate_core::active::Address;
use tidegate_core::units::Time;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tracing::{info, warn};

use super::config::Config;
use super::control;
use super::engine::Engine;
use super::faults::Faulty;
use super::menu::Menu;
use super::reason::Reason;
use super::wire::Wire;
use tidegate_common::fail::{At, Failure};

/// The clocks of a node.
struct Clock {
    start: Instant,
}

impl Clock {
    fn now(&self) -> Time {
        let nanos = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX / 1_000);
        Time::from_ps(nanos.saturating_mul(1_000))
    }

    /// Microseconds since 1970; zero if the clock is set before.
    fn wall_us() -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    fn instant(&self, at: Time) -> tokio::time::Instant {
        (self.start + Duration::from_nanos(at.ps().div_ceil(1_000))).into()
    }
}

/// The line of JSON that a node writes to standard output when it is ready.
#[derive(serde::Serialize, serde::Deserialize, Debug)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// Its UDP address.
    pub address: Address,
    /// Its HTTP address, if it has one.
    pub control: Option<SocketAddr>,
}

/// Runs a node until a signal or, if `until_stdin_closes`, the end of standard input.
///
/// # Errors
/// The address is in use, or the runtime cannot be created.
pub fn run(config: &Config, menu: &Menu, until_stdin_closes: bool) -> Result<(), Failure> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().at(&config.name)?;
    let done = runtime.block_on(serve(config, menu, until_stdin_closes));
    // the thread that waits for standard input cannot be joined
    runtime.shutdown_background();
    done
}

async fn serve(config: &Config, menu: &Menu, until_stdin_closes: bool) -> Result<(), Failure> {
    let taken = |address: String| {
        move |error: io::Error| {
            let remedy = "choose another address, or end the process that has it";
            Failure::failed(address, error).remedy(remedy)
        }
    };
    let mut wire = Wire::bind(config.address).map_err(taken(config.address.to_string()))?;
    let (orders, mut inbox) = mpsc::channel(16);
    let mut control = None;
    if let Some(address) = config.control {
        let listener =
            tokio::net::TcpListener::bind(address).await.map_err(taken(address.to_string()))?;
        control = listener.local_addr().ok();
        tokio::spawn(control::serve(listener, orders.clone()));
    }
    let clock = Clock { start: Instant::now() };
    let mut engine = Engine::new(config, menu, clock.now(), Clock::wall_us());
    let mut faulty = config.faults.as_ref().map(|faults| Faulty::new(faults, &config.name));
    let ready = Ready { name: config.name.clone(), address: config.address, control };
    let line = serde_json::to_string(&ready).unwrap_or_default();
    // the reader may have closed standard output
    let _ = writeln!(io::stdout(), "{line}");
    info!(node = %config.name, address = %config.address, "ready");
    let mut stop = std::pin::pin!(stopped(until_stdin_closes));
    loop {
        let now = clock.now();
        engine.at(now, Clock::wall_us());
        let due = flush(&mut engine, &mut wire, faulty.as_mut(), now);
        tokio::select! {
            reason = &mut stop => {
                let status = engine.status();
                info!(node = %config.name, reason, received = status.received, sent = status.sent, "stopped");
                return Ok(());
            }
            Some(order) = inbox.recv() => {
                engine.at(clock.now(), Clock::wall_us());
                control::carry_out(order, &mut engine);
            }
            _ = wire.readable() => drain(&mut engine, &mut wire, &clock),
            () = tokio::time::sleep_until(clock.instant(due)), if due < Time::NEVER => {}
        }
    }
}

/// Reads the datagrams that have arrived, up to a batch.
fn drain(engine: &mut Engine, wire: &mut Wire, clock: &Clock) {
    engine.at(clock.now(), Clock::wall_us());
    wire.read(|from, bytes| match from {
        Some(from) => engine.receive(from, bytes),
        None => engine.drop(Reason::Stranger),
    });
}

/// Sends the datagrams that have reached the end of their links, and returns when there are more.
fn flush(engine: &mut Engine, wire: &mut Wire, faulty: Option<&mut Faulty>, now: Time) -> Time {
    let mut failed = 0;
    let mut put = |to: Address, bytes: &[u8]| failed += wire.put(to, bytes);
    let due = match faulty {
        None => engine.advance(put),
        Some(faulty) => {
            let due = engine.advance(|to, bytes| faulty.pass(to, bytes, now, &mut put));
            due.min(faulty.release(now, &mut put))
        }
    };
    failed += wire.flush();
    for _ in 0..failed {
        engine.drop(Reason::SendFailed);
    }
    due
}

/// Waits until the node is to stop, and returns why.
async fn stopped(until_stdin_closes: bool) -> &'static str {
    let (mut terminate, mut interrupt) =
        match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
            (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
            (Err(error), _) | (_, Err(error)) => {
                warn!(%error, "signals cannot be waited for");
                return "no signals";
            }
        };
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
        () = stdin_closed(), if until_stdin_closes => "end of standard input",
    }
}

/// Waits for the end of standard input: the process that started the node has ended.
async fn stdin_closed() {
    let (end, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = end.send(());
    });
    let _ = ended.await;
}
