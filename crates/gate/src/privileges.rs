//! The capabilities that the controller keeps once its programs are in place.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use tidegate_common::fail::{At, Failure};

/// To read and write maps and to load a changed program (`BPF`, `PERFMON`), and
/// to read queues, attach and shape (`NET_ADMIN`).
const KEPT: CapabilitySet =
    CapabilitySet::BPF.union(CapabilitySet::PERFMON).union(CapabilitySet::NET_ADMIN);

/// Gives up every other capability, for good.
///
/// # Errors
/// The kernel refuses.
pub fn drop_to_what_is_needed() -> Result<(), Failure> {
    let have = capabilities(None).at("capabilities")?.permitted;
    let keep = have & KEPT;
    // programs started by this one get none either
    if have.contains(CapabilitySet::SETPCAP) {
        for (_, other) in (CapabilitySet::all() - keep).iter_names() {
            if capability_is_in_bounding_set(other).unwrap_or(false) {
                remove_capability_from_bounding_set(other).at("capabilities")?;
            }
        }
    }
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: keep, permitted: keep, inheritable })
        .at("capabilities")
}

/// The names of the capabilities that this process lacks to run a gate.
pub fn missing() -> Vec<String> {
    let have = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    (KEPT - have).iter_names().map(|(name, _)| format!("CAP_{name}")).collect()
}
