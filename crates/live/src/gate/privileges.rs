//! What the controller may still do once its programs are in place.

use caps::{CapSet, Capability, CapsHashSet};

use crate::fail::Failure;

/// What it needs to go on: to read and write maps and to load a changed program
/// (`BPF`, `PERFMON`), and to read queues, attach and shape (`NET_ADMIN`).
const KEPT: [Capability; 3] =
    [Capability::CAP_BPF, Capability::CAP_PERFMON, Capability::CAP_NET_ADMIN];

/// Gives up every other capability, for good.
///
/// # Errors
/// The kernel refuses.
pub fn drop_to_what_is_needed() -> Result<(), Failure> {
    let failed = |error: caps::errors::CapsError| Failure::failed("capabilities", error);
    let have = caps::read(None, CapSet::Permitted).map_err(failed)?;
    let keep: CapsHashSet = KEPT.into_iter().filter(|one| have.contains(one)).collect();
    // a program that is started by this one gets none: there is none, and none may come
    if have.contains(&Capability::CAP_SETPCAP) {
        for other in caps::all() {
            if !keep.contains(&other)
                && caps::has_cap(None, CapSet::Bounding, other).unwrap_or(false)
            {
                caps::drop(None, CapSet::Bounding, other).map_err(failed)?;
            }
        }
    }
    caps::clear(None, CapSet::Inheritable).map_err(failed)?;
    caps::set(None, CapSet::Effective, &keep).map_err(failed)?;
    caps::set(None, CapSet::Permitted, &keep).map_err(failed)
}

/// The names of what this process lacks to run a gate.
pub fn missing() -> Vec<String> {
    KEPT.into_iter()
        .filter(|one| !caps::has_cap(None, CapSet::Effective, *one).unwrap_or(false))
        .map(|one| one.to_string())
        .collect()
}
