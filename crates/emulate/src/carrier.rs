//! The loop between two devices.

use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use tidegate_core::packet::Flags;
use tidegate_core::units::Time;
use tidegate_core::wire::ip::{Headers, Reader};
use tidegate_core::wire::reset::reset;
use tidegate_model::Scenario;
use tidegate_model::port::Media;
use tun_rs::SyncDevice;

use super::report::Direction;
use super::way::Way;
use tidegate_common::fail::{At, Failure};

/// Packets read from one device before the other is read.
const TURN: usize = 64;
/// Longest sleep, so that the end of a second and `stop` are noticed.
const SLEEP: Time = Time::from_ms(200);

/// The monotonic clock since the start.
pub(super) struct Clock {
    began_ns: u64,
}

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Clock {
    pub(super) fn now(&self) -> Time {
        Time::from_ns(monotonic_ns() - self.began_ns)
    }
}

/// The indices of the named port and of the port back.
///
/// # Errors
/// The scenario has no such port, or no port back.
pub fn ports(scenario: &Scenario, name: &str) -> Result<[usize; 2], Failure> {
    let ports = &scenario.network.ports;
    let Some(there) = ports.iter().position(|port| port.name == name) else {
        let names = ports.iter().filter(|port| !port.access).map(|port| port.name.as_str());
        return Err(Failure::usage("--port", format!("the scenario has no port `{name}`"))
            .remedy(format!("it has {}", names.collect::<Vec<_>>().join(", "))));
    };
    let ends = (ports[there].to, ports[there].from);
    let back = ports.iter().position(|port| (port.from, port.to) == ends);
    let back = back.ok_or_else(|| Failure::usage("--port", "no link leads back from there"))?;
    Ok([there, back])
}

/// Carries packets until `stop` or for `length`, and reports both directions.
///
/// # Errors
/// A port cannot be built, or a device fails.
pub fn carry(
    scenario: &Scenario,
    ports: [usize; 2],
    seed: u64,
    devices: [&SyncDevice; 2],
    length: Option<Time>,
    stop: &AtomicBool,
) -> Result<[Direction; 2], Failure> {
    let clock = Clock { began_ns: monotonic_ns() };
    let now = clock.now();
    let [there, back] = ports;
    let mut media = Media::default();
    let mut way = |number| Way::new(scenario, number, (seed, &mut media), now);
    let mut ways = [way(there)?, way(back)?];
    // wakes up as precisely as the machine can
    set_current_timer_slack(NonZeroU64::new(1)).at("timer slack")?;
    let reader = Reader::new((clock.began_ns, std::process::id().into()));
    let end = length.unwrap_or(Time::NEVER);
    let mut buffer = vec![0; 65_536];
    while clock.now() < end && !stop.load(Ordering::Relaxed) {
        let mut more = false;
        for (side, from) in devices.into_iter().enumerate() {
            more |= read(from, &mut ways, side, &reader, &clock, &mut buffer)?;
        }
        for (way, to) in ways.iter_mut().zip([devices[1], devices[0]]) {
            way.keep_up(clock.now())?;
            way.write(to, &clock);
        }
        if !more {
            sleep(devices, ways[0].next().min(ways[1].next()).min(end), &clock)?;
        }
    }
    let now = clock.now();
    Ok(ways.map(|way| way.report(now)))
}

/// Reads up to `TURN` packets of a device into the port; whether there may be more.
fn read(
    from: &SyncDevice,
    ways: &mut [Way; 2],
    side: usize,
    reader: &Reader,
    clock: &Clock,
    buffer: &mut [u8],
) -> Result<bool, Failure> {
    for _ in 0..TURN {
        let length = match from.recv(buffer) {
            Ok(length) => length,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return Ok(false);
            }
            Err(error) => {
                let end = ["left (outside)", "right (inside)"][side];
                return Err(Failure::failed(format!("TUN device at the {end} end"), error)
                    .remedy("it was removed or set down while it was used: start again, and leave it to this program"));
            }
        };
        let told = &mut ways[side].told;
        told.read += 1;
        let bytes = &buffer[..length];
        let Ok(headers) = reader.read(bytes) else {
            told.not_ip += 1;
            continue;
        };
        let now = clock.now();
        if let Some(refused) = ways[side].arrive(bytes, &headers, now) {
            answer(&refused, ways, side, reader, now);
        }
    }
    Ok(true)
}

/// Sends a reset to the client of a refused session: the source of a SYN, or the destination of a SYN+ACK.
fn answer(refused: &Headers, ways: &mut [Way; 2], side: usize, reader: &Reader, now: Time) {
    let Ok(bytes) = reset(refused) else { return };
    let Ok(headers) = reader.read(&bytes) else { return };
    let back = if refused.record.flags.has(Flags::ACK) { side } else { 1 - side };
    ways[back].answer(bytes, headers, now);
}

/// Sleeps until a packet arrives or until `next`.
fn sleep(devices: [&SyncDevice; 2], next: Time, clock: &Clock) -> Result<(), Failure> {
    let left = next.saturating_sub(clock.now()).min(SLEEP).ps() / 1_000;
    let timeout = Timespec { tv_sec: 0, tv_nsec: left as i64 };
    let [left, right] =
        devices.map(|device| PollFd::from_borrowed_fd(device.as_fd(), PollFlags::IN));
    match poll(&mut [left, right], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(Failure::failed("poll", error)),
    }
}
