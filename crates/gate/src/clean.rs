//! Removes what gates that were killed have left: filters, shapers, hooks, sockets.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

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

/// Looks at all interfaces of the network namespace, or at one, at the sockets in `folder`, and at
/// those of other places that are named.
///
/// # Errors
/// The kernel refuses, or there is no such interface.
pub fn clean(only: Option<&str>, folder: &Path, named: &[PathBuf]) -> Result<Cleaned, Failure> {
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
    let mut sockets = in_folder(folder);
    sockets.retain(|path| only.is_none_or(|name| is_of(path, name)));
    sockets.extend_from_slice(named);
    cleaned.removed.extend(stale(sockets));
    Ok(cleaned)
}

fn at(netlink: &mut Netlink, interface: &Interface, cleaned: &mut Cleaned) -> io::Result<()> {
    let (index, name) = (interface.index, &interface.name);
    let mut filters = netlink.filters(index)?;
    filters.retain(super::filters::TcFilter::is_ours);
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

/// The sockets in a folder, in the order of their names.
pub(crate) fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "sock")).collect();
    found.sort();
    found
}

/// Whether a socket has the usual name of a gate at that interface, or at it and another.
pub(crate) fn is_of(path: &Path, interface: &str) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let names = name.strip_prefix("gate-").unwrap_or_default();
    names == interface || names.split('+').any(|name| name == interface)
}

/// Whether nobody listens on a socket any more.
pub(crate) fn is_left(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Removes those of these sockets on which no gate answers; which they were.
fn stale(sockets: Vec<PathBuf>) -> Vec<String> {
    let left = |path: &PathBuf| {
        // a file of another kind refuses too
        let socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
        socket && is_left(path) && std::fs::remove_file(path).is_ok()
    };
    sockets.into_iter().filter(left).map(|path| path.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_known_by_its_interfaces() {
        let is = |path: &str, name| is_of(Path::new(path), name);
        assert!(is("/run/tidegate/gate-wan0.sock", "wan0"));
        assert!(is("/run/tidegate/gate-lan0+wan0.sock", "wan0"));
        assert!(!is("/run/tidegate/gate-wan01.sock", "wan0"));
        assert!(!is("/run/tidegate/wan0.sock", "wan0"));
    }

    // What a gate that was killed has left refuses; one that a gate still has does not.
    #[test]
    fn a_socket_of_a_killed_gate_is_removed_wherever_it_is() {
        let folder = std::env::temp_dir();
        let [left, used, other] = ["left", "used", "file"]
            .map(|name| folder.join(format!("tidegate-{name}-{}", std::process::id())));
        drop(std::os::unix::net::UnixListener::bind(&left).expect("a socket"));
        let _listens = std::os::unix::net::UnixListener::bind(&used).expect("a socket");
        std::fs::write(&other, "mine").expect("a file");
        let removed = stale(vec![left.clone(), used.clone(), other.clone()]);
        assert_eq!(removed, [left.display().to_string()]);
        assert!(!left.exists() && used.exists());
        assert_eq!(std::fs::read_to_string(&other).expect("it stays"), "mine");
        std::fs::remove_file(used).expect("it is there");
        std::fs::remove_file(other).expect("it is there");
    }
}
