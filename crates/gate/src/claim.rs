//! One gate for an interface: two would replace each other's filters.
//!
//! A gate holds an abstract socket with the interface's number in its name. Such names
//! belong to the network namespace, and the kernel frees one when its process ends.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use tidegate_common::fail::Failure;

/// The claim of a process on an interface, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    index: i32,
    _socket: UnixListener,
}

impl Claim {
    /// Claims the interface with this number; `name` is what messages call it.
    ///
    /// # Errors
    /// Another process has it.
    pub fn take(index: i32, name: &str) -> Result<Claim, Failure> {
        let bound = SocketAddr::from_abstract_name(format!("tidegate-gate-{index}"))
            .and_then(|address| UnixListener::bind_addr(&address));
        match bound {
            Ok(socket) => Ok(Claim { index, _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                Err(Failure::failed(name, "another gate runs at this interface")
                    .remedy("end it first: `tidegated status` lists the gates that run"))
            }
            Err(error) => Err(Failure::failed(name, error)),
        }
    }

    /// The number of the interface.
    pub fn index(&self) -> i32 {
        self.index
    }
}
