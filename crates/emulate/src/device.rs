//! A TUN device in a network namespace.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::str::FromStr;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tun_rs::{DeviceBuilder, SyncDevice};

use tidegate_common::fail::Failure;

/// Largest packet of a device, bytes.
pub const MTU: u16 = 1500;
/// Queue of the device in the kernel, packets: large, so that none is dropped there.
const QUEUE: u32 = 10_000;

/// Namespace and name of a device, as `NAMESPACE:NAME`, or `NAME` in our own namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceName {
    /// Name under /run/netns; none: our own.
    pub namespace: Option<String>,
    /// Name of the device.
    pub name: String,
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceName, String> {
        let (namespace, name) = match text.split_once(':') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text),
        };
        let right = |part: &str| !part.is_empty() && !part.contains(['/', ' ', ':']);
        if !right(name) || name.len() > 15 || !namespace.is_none_or(right) {
            return Err("write NAMESPACE:DEVICE, or DEVICE (15 characters at most)".to_owned());
        }
        Ok(DeviceName { namespace: namespace.map(str::to_owned), name: name.to_owned() })
    }
}

/// A TUN device.
pub struct Device {
    /// To read and write packets.
    pub tun: SyncDevice,
    place: DeviceName,
    there: Option<File>,
}

impl Device {
    /// Creates the device; it is removed when this is dropped.
    ///
    /// # Errors
    /// There is no such namespace, or no permission to create a device in it.
    pub fn make(place: &DeviceName) -> Result<Device, Failure> {
        let failed = |error: io::Error| {
            let namespace = place.namespace.as_deref().unwrap_or("here");
            Failure::failed(format!("TUN device {} ({namespace})", place.name), error)
                .remedy("run as root; `ip netns list` lists namespaces; /dev/net/tun must be there")
        };
        let path = |namespace: &String| format!("/run/netns/{namespace}");
        let there = place.namespace.as_ref().map(|name| File::open(path(name)));
        let there = there.transpose().map_err(failed)?;
        let build = || {
            let builder = DeviceBuilder::new().name(&place.name).mtu(MTU);
            let device = builder.with(|more| _ = more.tx_queue_len(QUEUE)).build_sync()?;
            device.set_nonblocking(true)?;
            Ok(device)
        };
        let tun = within(there.as_ref(), build).map_err(failed)?;
        Ok(Device { tun, place: place.clone(), there })
    }

    /// Packets that it dropped before they were read.
    ///
    /// # Errors
    /// The kernel does not list the device.
    pub fn lost(&self) -> io::Result<u64> {
        let table = within(self.there.as_ref(), || std::fs::read("/proc/thread-self/net/dev"))?;
        lost(&table, &self.place.name)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such device any more"))
    }
}

/// Runs `act` in a namespace: this thread enters it and returns.
fn within<T>(there: Option<&File>, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(there) = there else { return act() };
    let home = File::open("/proc/thread-self/ns/net")?;
    enter(there)?;
    let done = act();
    enter(&home)?;
    done
}

fn enter(namespace: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// The `drop` of what a device was to transmit, in the kernel's table of
/// devices: `name: 8 numbers received, 8 transmitted` (proc_net_dev(5)).
fn lost(table: &[u8], device: &str) -> Option<u64> {
    let table = String::from_utf8_lossy(table);
    let mut rows = table.lines().filter_map(|line| line.split_once(':'));
    let (_, numbers) = rows.find(|(name, _)| name.trim() == device)?;
    numbers.split_whitespace().nth(8 + 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_place_is_a_namespace_and_a_device() {
        let place =
            |text: &str| text.parse::<DeviceName>().map(|place| (place.namespace, place.name));
        assert_eq!(place("left:tg0"), Ok((Some("left".to_owned()), "tg0".to_owned())));
        assert_eq!(place("tg0"), Ok((None, "tg0".to_owned())));
        for wrong in ["", ":", "a:", ":b", "../x:b", "a:sixteen-letters-", "a:b:c"] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }

    // proc_net_dev(5): after the name 8 columns of reception; of transmission bytes, packets, errs, drop.
    #[test]
    fn what_a_device_lost_is_the_twelfth_number() {
        let table = b"Inter-|   Receive  |  Transmit\n face |bytes |bytes\n\
            lo: 1 2 3 4 5 6 7 8 9 10 11 99 13 14 15 16\n  tg0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(lost(table, "tg0"), Some(12));
        assert_eq!(lost(table, "tg"), None);
        assert_eq!(lost(b"tg0: 1 2", "tg0"), None);
    }

    proptest! {
        #[test]
        fn no_table_breaks_it(table in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = lost(&table, "tg0");
            let _ = String::from_utf8_lossy(&table).parse::<DeviceName>();
        }
    }
}
