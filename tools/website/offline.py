"""What a built site must hold: links that lead somewhere, and nothing loaded from elsewhere."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
}
"""Elements by which a page loads something by itself, and the attributes that say what."""
NEVER_LOADED = {"canonical", "author", "license", "next", "prev", "index", "search"}
"""Kinds of `link` that load nothing."""
_CSS = re.compile(r"""(?:@import\s+|url\(\s*)["']?(?P<target>[^"')\s;]+)""")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.styles: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.anchors.update(known[name] for name in ("id", "name") if known.get(name))
        if tag == "a" and "href" in known:
            self.links.append(known["href"])
        if tag == "link" and set(known.get("rel", "").split()) & NEVER_LOADED:
            self.links.append(known.get("href", ""))
        else:
            self.loaded += [known[name] for name in LOADED.get(tag, ()) if known.get(name)]
        if "style" in known:
            self.styles.append(known["style"])
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "style":
            self._in_style = False


def _parsed(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site, each with its place."""
    pages = {path.resolve(): _parsed(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in page.loaded:
            yield from (f"{name}: {each}" for each in _loaded(path, target))
        for style in page.styles:
            yield from (f"{name}: {each}" for each in _styled(path, style))
        for target in page.links:
            if not _leads(path, target, pages):
                yield f"{name}: dead link: {target}"
    for path in sorted(site.rglob("*.css")):
        for each in _styled(path, path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: {each}"


def _loaded(path: Path, target: str) -> Iterator[str]:
    parts = urlsplit(target)
    if parts.scheme == "data":
        return
    if parts.scheme or parts.netloc:
        yield f"loads from elsewhere: {target}"
    elif parts.path and not (path.parent / unquote(parts.path)).exists():
        yield f"loads what is not there: {target}"


def _styled(path: Path, style: str) -> Iterator[str]:
    for found in _CSS.finditer(style):
        yield from _loaded(path, found["target"])


def _leads(path: Path, target: str, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not place.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or place not in pages or anchor in pages[place].anchors
