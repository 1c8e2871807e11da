//! What a receiver keeps aside, which few need.

use tidegate_core::packet::Ext;

use super::super::ranges::Ranges;
use super::early::Early;
use super::told::Told;

/// What a receiver keeps of holes and of delayed acknowledgements.
#[derive(Default)]
pub(crate) struct Aside {
    /// What came beyond a hole.
    pub(super) beyond: Ranges,
    /// What of it acknowledgements tell of.
    pub(super) told: Told,
    /// What is to be handed back of segments not acknowledged yet.
    pub(super) held: Ext,
    /// Segments that were acknowledged and have not come.
    pub(super) missing: u32,
    /// What a receiver goes by that acknowledges what has not come yet; boxed, as few need it.
    pub(super) early: Option<Box<Early>>,
}

impl Aside {
    pub(super) fn is_empty(&self) -> bool {
        let Aside { beyond, told: _, held, missing, early } = self;
        beyond.is_empty() && *held == Ext::None && *missing == 0 && early.is_none()
    }
}
