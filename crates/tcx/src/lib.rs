//! Programs at tcx, a hook at both sides of an interface (Linux 6.6 and newer).
//!
//! A program runs as long as its link is open, so it ends with the process. libbpf-rs has no calls
//! for this hook. Those of libbpf are C, so this crate has `unsafe`.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::{fmt, io};

use libbpf_sys::{bpf_link_create_opts, bpf_link_update_opts, bpf_prog_query_opts};

/// Room for the programs at one side of an interface (`BPF_MPROG_MAX`).
const MOST: usize = 64;
/// There is no such interface.
const ENODEV: i32 = 19;

/// A side of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterfaceSide {
    /// Packets that come in.
    Ingress,
    /// Packets that leave.
    Egress,
}

impl InterfaceSide {
    /// Both sides.
    pub const ALL: [InterfaceSide; 2] = [InterfaceSide::Ingress, InterfaceSide::Egress];

    fn attach_type(self) -> libbpf_sys::bpf_attach_type {
        match self {
            InterfaceSide::Ingress => libbpf_sys::BPF_TCX_INGRESS,
            InterfaceSide::Egress => libbpf_sys::BPF_TCX_EGRESS,
        }
    }
}

impl fmt::Display for InterfaceSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InterfaceSide::Ingress => "ingress",
            InterfaceSide::Egress => "egress",
        })
    }
}

/// Keeps a program at an interface, until it is dropped.
#[derive(Debug)]
pub struct BpfLink(OwnedFd);

impl BpfLink {
    /// Attaches a program before all others.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn attach(
        program: BorrowedFd<'_>,
        interface: i32,
        side: InterfaceSide,
    ) -> io::Result<BpfLink> {
        let options = bpf_link_create_opts {
            sz: size_of::<bpf_link_create_opts>() as libbpf_sys::size_t,
            flags: libbpf_sys::BPF_F_BEFORE,
            ..Default::default()
        };
        let program = program.as_raw_fd();
        // SAFETY: the options live through the call, `sz` is their size, and they hold no pointers.
        let made = unsafe {
            libbpf_sys::bpf_link_create(program, interface, side.attach_type(), &raw const options)
        };
        let made = checked(made)?;
        // SAFETY: the kernel has just opened it for this call, so nobody else owns it.
        Ok(BpfLink(unsafe { OwnedFd::from_raw_fd(made) }))
    }

    /// Puts another program in the place of its program; each packet meets one of the two.
    ///
    /// # Errors
    /// The kernel refuses it, as where the link was detached or the interface is gone.
    pub fn update(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        let options = bpf_link_update_opts {
            sz: size_of::<bpf_link_update_opts>() as libbpf_sys::size_t,
            ..Default::default()
        };
        let (link, program) = (self.0.as_raw_fd(), program.as_raw_fd());
        // SAFETY: the options live through the call, `sz` is their size, and they hold no pointers.
        checked(unsafe { libbpf_sys::bpf_link_update(link, program, &raw const options) }).map(drop)
    }
}

impl AsFd for BpfLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The ids of the programs at one side of an interface, in the order in which they run.
///
/// # Errors
/// The kernel has no tcx, there is no such interface, or this process may not ask.
pub fn programs(interface: i32, side: InterfaceSide) -> io::Result<Vec<u32>> {
    let mut ids = [0u32; MOST];
    let mut options = bpf_prog_query_opts {
        sz: size_of::<bpf_prog_query_opts>() as libbpf_sys::size_t,
        prog_ids: ids.as_mut_ptr(),
        ..Default::default()
    };
    options.__bindgen_anon_1.prog_cnt = MOST as u32;
    // SAFETY: options and ids live through the call, `sz` is the size of the options, and the
    // kernel writes as many ids as `prog_cnt` says.
    checked(unsafe {
        libbpf_sys::bpf_prog_query_opts(interface, side.attach_type(), &raw mut options)
    })?;
    // no program has the id 0
    Ok(ids.into_iter().take_while(|id| *id != 0).collect())
}

/// Whether this kernel has tcx: if so, it says of a number of no interface that there is none.
pub fn available() -> bool {
    programs(0, InterfaceSide::Egress).is_err_and(|error| error.raw_os_error() == Some(ENODEV))
}

/// libbpf returns the error of a call as a negative number.
fn checked(returned: i32) -> io::Result<i32> {
    if returned < 0 { Err(io::Error::from_raw_os_error(-returned)) } else { Ok(returned) }
}
