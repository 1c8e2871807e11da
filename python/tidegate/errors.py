"""The errors that a user can correct; each says what happened, where, and what to do."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable
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


def warn(found: Iterable[str], level: int = 3) -> None:
    """Tell what may make results misleading: a command prints it, in Python it is a warning.

    `level`: how many calls up the line is that Python shows; 3: where the caller was called.
    """
    import warnings

    for each in found:
        warnings.warn(each, TidegateWarning, stacklevel=level)


class Stopped(Exception):
    """A run was asked to stop before its end."""


def path_of(given: object, what: str) -> Path:
    """Return what names a file or a folder as a path; a path of another library stays as it is.

    Raises UsageError where it is neither text nor a path. `what` is what was asked for, as in
    "a scenario".
    """
    from pathlib import Path

    text = isinstance(given, str | os.PathLike) and os.fspath(given)
    # an empty text would be the folder that one is in, which nobody named
    if isinstance(text, str) and text and "\0" not in text:
        return given if isinstance(given, Path) else Path(text)
    if not isinstance(given, str | os.PathLike) and hasattr(given, "read_bytes"):
        return cast("Path", given)
    raise UsageError(
        f"{given!r} is no path of {what}.", "Give its path, as text or as a `pathlib.Path`."
    )


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
