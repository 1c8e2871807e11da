//! Removes what gates that were killed have left: filters, shapers, hooks, sockets.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use tidegate_common::fail::{At, Failure};

use super::claim::Claim;
use super::link::{Interface, Netlink};

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cleaned {
    /// What was removed, a line each.
    pub removed: Vec<String>,
    /// Interfaces that were left alone, as a gate runs there.
    pub busy: Vec<String>,
}

/// Looks at all interfaces of the network namespace, or at one, and at the sockets in `folder`.
///
/// # Errors
/// The kernel refuses, or there is no such interface.
pub fn clean(only: Option<&str>, folder: &Path) -> Result<Cleaned, Failure> {
    let mut netlink = Netlink::open().at("netlink")?;
    let mut cleaned = Cleaned::default();
    let mut interfaces = netlink.interfaces().at("interfaces")?;
    if let Some(name) = only {
        interfaces.retain(|interface| interface.name == name);
        if interfaces.is_empty() {
            return Err(Failure::usage(name, "no such interface")
                .remedy("`ip link` lists those of this network namespace"));
        }
    }
    for interface in &interfaces {
        at(&mut netlink, interface, &mut cleaned).at(&interface.name)?;
    }
    if only.is_none() {
        cleaned.removed.extend(stale_sockets(folder));
    }
    Ok(cleaned)
}

fn at(netlink: &mut Netlink, interface: &Interface, cleaned: &mut Cleaned) -> io::Result<()> {
    let (index, name) = (interface.index, &interface.name);
    let mut filters = netlink.filters(index)?;
    filters.retain(super::filters::Filter::is_ours);
    let shaper = netlink.queue(index)?.filter(super::link::Queue::is_ours);
    if filters.is_empty() && shaper.is_none() {
        return Ok(());
    }
    let Ok(_claim) = Claim::take(index, name) else {
        cleaned.busy.push(name.clone());
        return Ok(());
    };
    for filter in &filters {
        netlink.remove_filter(index, filter)?;
        cleaned.removed.push(format!("{name}: {filter}"));
    }
    if shaper.is_some() {
        netlink.unshape(index)?;
        cleaned.removed.push(format!("{name}: the shaper (tbf 7d00:)"));
    }
    if !filters.is_empty() && netlink.has_clsact(index)? && netlink.remove_empty_clsact(index)? {
        cleaned.removed.push(format!("{name}: the hook of the filters (clsact)"));
    }
    Ok(())
}

/// Removes the sockets on which no gate answers.
fn stale_sockets(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut removed = Vec::new();
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let socket = path.extension().is_some_and(|ending| ending == "sock");
        let refused = || {
            UnixStream::connect(&path)
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        };
        if socket && refused() && std::fs::remove_file(&path).is_ok() {
            removed.push(path.display().to_string());
        }
    }
    removed.sort();
    removed
}
