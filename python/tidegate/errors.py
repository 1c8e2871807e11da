"""The errors that a user can correct; each says what happened, where, and what to do."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class TidegateError(Exception):
    """An error that the user can correct: what happened and where, and the remedy."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}\n{remedy}" if remedy else what)
        self.what = what
        self.remedy = remedy


class UsageError(TidegateError):
    """A request that cannot be carried out as it is."""


class ScenarioError(TidegateError, ValueError):
    """A scenario that cannot be run; the message shows the place and the correct form."""


class LawFault(TidegateError, RuntimeError):
    """A law that could not continue; a law written in Python raises its own exception."""


class TidegateWarning(UserWarning):
    """Something that the user should know; the command continues."""


class Stopped(Exception):
    """A run was asked to stop before its end."""


_REMEDIES = {
    errno.ENOENT: "Check the spelling, or give the path from the folder you are in.",
    errno.EEXIST: "A file is there already; name another location.",
    errno.EISDIR: "Give the path of a file, not of a folder.",
    errno.ENOTDIR: "A part of the path is a file; name a folder instead.",
    errno.EACCES: "Change its permissions, or choose another location.",
    errno.EPERM: "Change its permissions, or choose another location.",
    errno.EROFS: "Choose a location that can be written.",
    errno.ENOSPC: "Free some space, or choose a location on another disk.",
    errno.EDQUOT: "Free some of your quota, or choose a location on another disk.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}


def from_os(doing: str, location: Path | str, error: OSError) -> TidegateError:
    """Turn an error of the operating system into one with location and remedy.

    `doing` is what was under way, as in "read the scenario".
    """
    reason = error.strerror or str(error)
    remedy = _REMEDIES.get(error.errno or 0, "Check the location, or choose another one.")
    return TidegateError(f"Could not {doing} {location}: {reason}.", remedy)
