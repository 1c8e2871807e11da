"""Links of a page that is written for `docs`, where the page stands somewhere else.

A page of a paper or a study says where things are as seen from its place in a checkout,
`docs/papers/KEY`. Elsewhere every relative link has to lead to what exists from there: what
lies beside it, the same file of the checkout, or of the package; what is nowhere here is
named without a link.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import quote

from tidegate.results.location import is_remote

if TYPE_CHECKING:
    from collections.abc import Container

    from tidegate.papers.paper import Paper

_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^()\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|[#/]", re.IGNORECASE)
_PACKAGE = Path(__file__).resolve().parents[1]
_CODE = "python/"
"""Where a checkout has packages."""


def placed(text: str, name: str, paper: Paper, place: Path, beside: Container[str]) -> str:
    """Return the page `name` of a folder `place` with links that lead there from where it is.

    `beside`: the names of the files that are written with it.
    """
    home = f"docs/{paper.package.removeprefix('tidegate.').replace('.', '/')}"
    if _is_home(place, home):
        return text
    above = str(PurePosixPath(name).parent)

    def link(found: re.Match[str]) -> str:
        shown, (target, mark, part) = found[1], found[2].partition("#")
        if _ELSEWHERE.match(found[2]):
            return found[0]
        here = normpath(f"{above}/{target}")
        if not here.startswith("..") and (here in beside or (place / here).exists()):
            return found[0]
        path = normpath(f"{home}/{here}")
        there = None if is_remote(place) else _found(path, paper)
        if there is None:
            return shown if path.endswith(shown) else f"{shown} (`{path}` of tidegate)"
        way = os.path.relpath(there.resolve(), (place / above).resolve())
        return f"[{shown}]({quote(Path(way).as_posix(), safe='/+@=,:')}{mark}{part})"

    return _LINK.sub(link, text)


def checkouts() -> list[Path]:
    """Return the checkouts there are: of this code, and the working folder."""
    folders = (_PACKAGE.parents[1], Path.cwd())
    return [each for each in folders if _is_checkout(each)]


def _is_checkout(folder: Path) -> bool:
    return all((folder / each).is_dir() for each in ("docs/papers", f"{_CODE}tidegate/papers"))


def _is_home(place: Path, home: str) -> bool:
    """Tell whether a folder is the one of a checkout that the page is written for."""
    if is_remote(place):
        return False
    whole, parts = place.resolve(), PurePosixPath(home).parts
    return whole.parts[-len(parts) :] == parts and _is_checkout(whole.parents[len(parts) - 1])


def _found(path: str, paper: Paper) -> Path | None:
    """Return where a file of the repository is on this machine."""
    own = f"{_CODE}{paper.package.replace('.', '/')}"
    places = [each / path for each in checkouts()]
    if path == own or path.startswith(f"{own}/"):
        places.append(Path(str(paper.folder)) / path[len(own) :].lstrip("/"))
    elif path.startswith(f"{_CODE}tidegate/"):
        places.append(_PACKAGE.parent / path.removeprefix(_CODE))
    return next((each for each in places if each.exists()), None)
