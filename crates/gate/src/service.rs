//! What the gate tells systemd (`Type=notify`): that it runs, that it still works, and its present
//! error. Without systemd these calls do nothing.

use sd_notify::{NotifyState, notify};

/// The gate has started: its programs are in place, or it waits for the interface.
pub fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The loop of the gate still turns (`WatchdogSec`).
pub fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// The gate is ending.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// One line for `systemctl status`; empty: the gate works.
pub fn trouble(text: &str) {
    let text = if text.is_empty() { "working" } else { text };
    tell(&[NotifyState::Status(&text.replace('\n', " "))]);
}

fn tell(what: &[NotifyState<'_>]) {
    // a service manager that cannot be reached changes nothing for the traffic
    if let Err(error) = notify(what) {
        tracing::debug!("systemd: {error}");
    }
}
