//! The registries: from a name in a document to what it stands for.

pub mod control;
pub mod law;
