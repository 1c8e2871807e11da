//! What this machine has no room for.
//!
//! A session that fails for want of files, ports or memory never reaches the network. It is no
//! session that was refused there, and a run in which it happened is over.

use std::cell::RefCell;
use std::fmt::Display;
use std::io;
use std::rc::Rc;

use rustix::io::Errno;
use tidegate_common::fail::Failure;
use tokio::sync::Notify;

/// The errors that say so.
const NO_ROOM: [Errno; 6] = [
    Errno::MFILE,
    Errno::NFILE,
    Errno::NOBUFS,
    Errno::NOMEM,
    Errno::ADDRNOTAVAIL,
    Errno::ADDRINUSE,
];

/// Whether there was room for every session so far.
#[derive(Default)]
pub(super) struct Room {
    first: RefCell<Option<String>>,
    met: Rc<Notify>,
}

impl Room {
    /// Notes a result that says there was no room; returns it as it was.
    pub(super) fn judge<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && NO_ROOM.iter().any(|one| error.raw_os_error() == Some(one.raw_os_error()))
        {
            self.first.borrow_mut().get_or_insert_with(|| error.to_string());
            self.met.notify_one();
        }
        result
    }

    /// Waits until there was no room for a session at `place`.
    pub(super) async fn none(&self, place: impl Display) -> Failure {
        self.met.notified().await;
        let why = self.first.borrow().clone().unwrap_or_default();
        Failure::failed(place, format!("this machine has no room for a session: {why}"))
            .remedy("raise its limits (`ulimit -n`, `sysctl net.ipv4.ip_local_port_range`)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // connect(2) and accept(2): what fails here, and what fails on the way.
    #[test]
    fn errors_of_this_machine_are_told_from_those_of_the_way() {
        let met = |error: Errno| {
            let room = Room::default();
            let _ = room.judge::<()>(Err(error.into()));
            room.first.into_inner().is_some()
        };
        assert!(
            [Errno::MFILE, Errno::NFILE, Errno::ADDRNOTAVAIL, Errno::NOBUFS].map(met) == [true; 4]
        );
        assert!([Errno::CONNREFUSED, Errno::CONNRESET, Errno::TIMEDOUT].map(met) == [false; 3]);
    }
}
