"""What a built site must hold: links that lead somewhere, and nothing loaded from elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

LOADING = ("src", "srcset", "poster", "data", "href", "xlink:href")
"""Attributes by which an element loads something."""
NEVER_LOADED = {"canonical", "author", "license", "next", "prev", "index", "search"}
"""Kinds of `link` that load nothing."""
_CSS = re.compile(r"""(?:@import\s+|url\(\s*)["']?([^"')\s;]+)""")


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site, each with its page."""
    pages = {
        path.resolve(): BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in sorted(site.rglob("*.html"))
    }
    ids: dict[Path, set[object]] = {
        path: {tag.get(name) for tag in page.find_all(True) for name in ("id", "name")}
        for path, page in pages.items()
        if page.select_one("[data-fragment]") is None  # it reads what a link has behind the #
    }
    for path, page in pages.items():
        for tag in page.find_all(True):
            for problem in _of_element(path, tag, ids):
                yield f"{path.relative_to(site.resolve())}: {problem}"
    for path in sorted(site.rglob("*.css")):
        for target in _CSS.findall(path.read_text(encoding="utf-8")):
            yield from (f"{path.relative_to(site)}: {each}" for each in _loaded(path, target))


def _of_element(path: Path, tag: Tag, ids: dict[Path, set[object]]) -> Iterator[str]:
    style = f"{tag.get('style', '')} {tag.string or '' if tag.name == 'style' else ''}"
    loaded = _CSS.findall(style)
    is_link = tag.name == "a" or NEVER_LOADED.intersection(tag.get_attribute_list("rel"))
    if is_link and "href" in tag.attrs and not _leads(path, str(tag["href"]), ids):
        yield f"dead link: {tag['href']}"
    if not is_link:
        loaded += [str(tag[name]) for name in LOADING if tag.get(name)]
    for target in loaded:
        yield from _loaded(path, target)


def _loaded(path: Path, target: str) -> Iterator[str]:
    parts = urlsplit(target)
    if parts.scheme == "data":
        return
    if parts.scheme or parts.netloc:
        yield f"loads from elsewhere: {target}"
    elif parts.path and not (path.parent / unquote(parts.path)).exists():
        yield f"loads what is not there: {target}"


def _leads(path: Path, target: str, ids: dict[Path, set[object]]) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    page = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    anchor = unquote(parts.fragment)
    return page.is_file() and (not anchor or page not in ids or anchor in ids[page])
