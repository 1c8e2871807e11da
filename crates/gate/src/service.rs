//! What the gate tells systemd (`Type=notify`): that it runs, that it still works, and its present
//! error. Without systemd these calls do nothing.

use std::collections::BTreeMap;
use std::sync::Mutex;

use sd_notify::{NotifyState, notify};

/// The present error of each interface.
static TROUBLES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The gate has started: its programs are in place, or it waits for the interface.
pub fn ready() {
    notify_systemd(&[NotifyState::Ready]);
}

/// The loop of the gate still turns (`WatchdogSec`).
pub fn alive() {
    notify_systemd(&[NotifyState::Watchdog]);
}

/// The gate is ending.
pub fn stopping() {
    notify_systemd(&[NotifyState::Stopping]);
}

/// One line for `systemctl status`; empty: the gate at that interface works.
pub fn trouble(interface: &str, text: &str) {
    let Ok(mut troubles) = TROUBLES.lock() else { return };
    troubles.insert(interface.to_owned(), text.replace('\n', " "));
    let present = troubles.values().filter(|text| !text.is_empty()).map(String::as_str);
    let all = present.collect::<Vec<_>>().join("; ");
    notify_systemd(&[NotifyState::Status(if all.is_empty() { "working" } else { &all })]);
}

fn notify_systemd(what: &[NotifyState<'_>]) {
    // a service manager that cannot be reached changes nothing for the traffic
    if let Err(error) = notify(what) {
        tracing::debug!("systemd: {error}");
    }
}
