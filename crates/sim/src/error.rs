//! Why a run could not be built.

use tidegate_core::law::Fault;

/// Why a run could not be built from a scenario.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A port asks for a law of the user's own that was not supplied.
    #[error("no law named `{0}` was supplied; hand one in under that name")]
    NoSuchLaw(String),
    /// There is no port of the name given for stages or a capture.
    #[error("no port is named `{0}`")]
    NoSuchPort(String),
    /// The class whose control was supplied is not there, or has none.
    #[error("no class of traffic is named `{0}`, or it has no control of TCP")]
    NoSuchClass(String),
    /// A class asks for a transport stack that was not supplied.
    #[error("no transport stack named `{0}` was supplied; hand one in under that name")]
    NoSuchStack(String),
    /// A class asks for a control out of a crate that was not supplied.
    #[error("no control named `{0}` was supplied; hand one in under that name")]
    NoSuchControl(String),
    /// A class of pages asks for a stack whose connections carry one transfer each.
    #[error(
        "the stack `{0}` carries no objects, which `pages` needs; see `carries_objects` of Host"
    )]
    NoObjects(String),
    /// A law of the user's own could not be started.
    #[error(transparent)]
    Law(Fault),
}
