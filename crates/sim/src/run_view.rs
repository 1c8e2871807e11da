//! What is seen of a run by those who record single flows.

use crate::flows::Flows;
use crate::network::Network;
use crate::rows::Row;
use crate::transport::ClassParams;

/// What records look at.
pub(crate) struct RunView<'a> {
    pub(crate) flows: &'a Flows,
    pub(crate) classes: &'a [ClassParams],
    pub(crate) rows: &'a [Row],
    pub(crate) net: &'a mut Network,
}
