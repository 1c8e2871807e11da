//! The hooks at an interface where programs run: tcx where the kernel has it (Linux 6.6 and newer),
//! else clsact.
//!
//! A program at tcx ends with its process, and its place is before those of others. At clsact it is
//! a filter that stays after the process, and its place follows from a priority.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use libbpf_rs::{Program, TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook, TcHookBuilder};
use serde::{Deserialize, Serialize};
use tidegate_common::fail::Failure;
use tidegate_tcx::BpfLink;

use super::filters::{InterfaceSide, TcFilter};

/// A failure of the kernel at a program of that name.
pub(super) fn refused(name: &str, error: impl std::fmt::Display) -> Failure {
    Failure::failed(name, error).remedy("`tidegated doctor` says what this kernel lacks")
}

/// Where programs run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// By BPF links, before the filters of clsact.
    Tcx,
    /// As filters.
    Clsact,
}

impl Hook {
    /// The one that is asked for, or else the better one that the kernel has.
    pub fn choose(asked: Option<Hook>) -> Hook {
        let best = || if tidegate_tcx::available() { Hook::Tcx } else { Hook::Clsact };
        asked.unwrap_or_else(best)
    }

    /// As a file and the status name it.
    pub fn name(self) -> &'static str {
        match self {
            Hook::Tcx => "tcx",
            Hook::Clsact => "clsact",
        }
    }
}

fn point(side: InterfaceSide) -> TcAttachPoint {
    match side {
        InterfaceSide::Ingress => TC_INGRESS,
        InterfaceSide::Egress => TC_EGRESS,
    }
}

/// An interface, and what is there before a program is attached.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Its number.
    pub index: i32,
    /// Where programs are attached.
    pub hook: Hook,
    /// Its filters.
    pub filters: &'a [TcFilter],
    /// Programs whose places are taken over.
    pub before: &'a [Attached],
}

/// The place of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attachment {
    /// Name of its function.
    pub title: &'static str,
    /// Its side of the interface.
    pub side: InterfaceSide,
    /// At clsact, its priority.
    pub priority: u32,
}

/// A program at an interface. One at tcx leaves it when this is dropped.
pub struct Attached {
    /// Its place.
    pub place: Attachment,
    /// The program.
    id: u32,
    held: Held,
}

enum Held {
    Filter(TcHook),
    /// The link, which the program of before has too, and the program itself.
    Link(Rc<BpfLink>, OwnedFd),
}

impl Attached {
    /// Attaches a program; at tcx before all programs.
    ///
    /// # Errors
    /// The kernel refuses it, or another filter has its priority.
    pub fn new(
        program: BorrowedFd<'_>,
        place: Attachment,
        at: &Site<'_>,
        name: &str,
    ) -> Result<Attached, Failure> {
        let id = Program::id_from_fd(program).map_err(|error| refused(name, error))?;
        let held = match at.hook {
            Hook::Tcx => link(program, place, at, name)?,
            Hook::Clsact => filter(program, place, at, name)?,
        };
        Ok(Attached { place, id, held })
    }

    /// Puts the program again in the place of the one that replaced it.
    pub fn put_back(&mut self) {
        let done = match &mut self.held {
            Held::Filter(hook) => {
                hook.replace(true).attach().map(drop).map_err(|it| it.to_string())
            }
            Held::Link(link, program) => link.update(program.as_fd()).map_err(|it| it.to_string()),
        };
        if let Err(error) = done {
            tracing::warn!("the program of before is not put back: {error}");
        }
    }

    /// Whether the program is still there, and still ours.
    pub fn stands(&mut self) -> bool {
        match &mut self.held {
            Held::Filter(hook) => hook.query().is_ok_and(|id| id == self.id),
            Held::Link(link, _) => runs(link) == Some(self.id),
        }
    }

    /// Removes the program, unless another has replaced it.
    pub fn detach(mut self) {
        let stands = self.stands();
        if let Held::Filter(hook) = &mut self.held
            && stands
            && let Err(error) = hook.detach()
        {
            tracing::warn!("the filter cannot be removed: {error}");
        }
    }
}

/// The program of a link; none: the link was detached, or its interface is gone.
fn runs(link: &BpfLink) -> Option<u32> {
    let info = LinkInfo::from_fd(link.as_fd()).ok()?;
    matches!(info.info, LinkTypeInfo::Tcx(at) if at.ifindex != 0).then_some(info.prog_id)
}

/// Attaches at tcx, without a gap where a program of before has the place.
fn link(
    program: BorrowedFd<'_>,
    place: Attachment,
    at: &Site<'_>,
    name: &str,
) -> Result<Held, Failure> {
    let failed = |error| refused(name, format!("not attached by tcx: {error}"));
    let link_of = |attached: &Attached| match &attached.held {
        Held::Link(link, _) => Some(Rc::clone(link)),
        Held::Filter(_) => None,
    };
    let own = program.try_clone_to_owned().map_err(failed)?;
    let before = at.before.iter().find(|before| before.place == place).and_then(link_of);
    if let Some(link) = before.filter(|link| runs(link).is_some()) {
        link.update(program).map_err(failed)?;
        return Ok(Held::Link(link, own));
    }
    let link = BpfLink::attach(program, at.index, place.side).map_err(failed)?;
    Ok(Held::Link(Rc::new(link), own))
}

/// Attaches at clsact, in the place of a filter of ours that is there.
fn filter(
    program: BorrowedFd<'_>,
    place: Attachment,
    at: &Site<'_>,
    name: &str,
) -> Result<Held, Failure> {
    let here = |filter: &&TcFilter| filter.side == place.side && filter.priority == place.priority;
    let there: Vec<&TcFilter> = at.filters.iter().filter(here).collect();
    if let Some(other) = there.iter().find(|filter| !filter.is_ours()) {
        let what = format!("there is a {other} already");
        return Err(Failure::failed(name, what).remedy("set another `priority`"));
    }
    let mut hook = TcHookBuilder::new(program)
        .ifindex(at.index)
        // without a filter of ours, one that somebody attaches meanwhile is not replaced
        .replace(!there.is_empty())
        .handle(1)
        .priority(place.priority)
        .hook(point(place.side));
    hook.create().map_err(|error| refused(name, format!("no clsact: {error}")))?;
    let hook = hook.attach().map_err(|error| refused(name, format!("no filter: {error}")))?;
    Ok(Held::Filter(hook))
}

/// The program of another that runs at tcx before all of `ours`, if there is one.
pub fn first_of_others(index: i32, side: InterfaceSide, ours: &[Attached]) -> Option<u32> {
    let first = *tidegate_tcx::programs(index, side).ok()?.first()?;
    ours.iter().all(|attached| attached.id != first).then_some(first)
}
