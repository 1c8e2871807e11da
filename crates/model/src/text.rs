//! The text of a document: parsed into a tree, changed by settings, decoded into typed tables, and
//! shown with what is wrong in it.

pub(crate) mod decode;
mod meaning;
pub(crate) mod report;
mod setting;
pub(crate) mod source;
pub(crate) mod sweep;
pub(crate) mod tree;
