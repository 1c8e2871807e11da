"""The page that runs scenarios, `play/`, and what other pages need to run one in place."""

from __future__ import annotations

import base64
import json
import shutil
import tomllib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate import _native
from tidegate.errors import TidegateError
from tidegate.scenario import document
from tidegate.show.page.sheet import library
from tools import wasm
from tools.website import gallery, report_pictures

HERE = Path(__file__).parent / "play"
SCRIPTS = (
    "editor",
    "completion",
    "settings",
    "summary",
    "pictures",
    "link",
    "engine",
    "report",
    "lab",
)
"""What a page loads to have a laboratory, in this order, after its data."""
STYLES = ("lab.css", "page.css")
POLICY = (
    "default-src 'self' file: blob: data: 'unsafe-inline' 'unsafe-eval'; connect-src 'none';"
    " form-action 'self' file:"
)
"""What a browser lets pages of the site do: nothing that they hold or are handed leaves them."""
MEMORY_BYTES = 1 << 30
"""The most memory of a run in a page: crates/web/build.rs."""


@dataclass(frozen=True)
class Ready:
    """A ready scenario that a page can run."""

    card: gallery.Card
    files: dict[str, bytes]
    """The files that it refers to, by the names that it gives them."""


def runs(text: str, folder: Path) -> dict[str, bytes] | None:
    """Return the files of a scenario that a page can run; None: it cannot.

    What a page lacks are files that are not in `folder`, laws of one's own and
    stacks of QUIC; a scenario of another program is none.
    """
    read = document.Document(text, "scenario", folder)
    try:
        names = _native.files(text, "scenario", [])
        scenario = read.load()
        if scenario.memory_bytes > MEMORY_BYTES or _has_stacks(text):
            return None
        _native.Simulation(scenario, 1)
    except TidegateError:
        return None
    return {name: (folder / name).read_bytes() for name in names}


def _has_stacks(text: str) -> bool:
    """Tell whether a class needs code of other projects; the simulator may have it here."""
    classes = tomllib.loads(text).get("traffic", {}).values()
    transports = [each.get("transport") or () for each in classes]
    return any("quic" in each or "crate" in each for each in transports)


def ready(root: Path) -> list[Ready]:
    """Return the ready scenarios that a page can run."""
    found = []
    for card in gallery.cards(root):
        if card.real:
            continue
        files = runs(card.document + "\n", card.path.parent)
        if files is not None:
            found.append(Ready(card, files))
    return found


def fragment(experiment: dict[str, Any]) -> str:
    """Return the fragment of a link that holds an experiment, as play/link.js reads it."""
    text = json.dumps(experiment, ensure_ascii=False, separators=(",", ":"))
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(text.encode()) + packer.flush()
    return "1" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def data(root: Path, module: Path) -> str:
    """Return the script that holds the module, the ready scenarios, their files and the schema."""
    scenarios = ready(root)
    files = {name: content for each in scenarios for name, content in each.files.items()}
    worker = "".join((HERE / name).read_text("utf-8") for name in ("module.js", "worker.js"))
    held = {
        "module": base64.b64encode(wasm.packed(module)).decode(),
        "worker": worker,
        "schema": json.loads(_native.schema()),
        "report": report_pictures.data(),
        "files": {name: base64.b64encode(content).decode() for name, content in files.items()},
        "gallery": [
            {
                "slug": each.card.slug,
                "title": each.card.title,
                "sentence": each.card.sentence.replace("`", ""),
                "text": each.card.document + "\n",
            }
            for each in scenarios
        ],
    }
    text = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    return f'"use strict";\nwindow.tidegate = window.tidegate || {{}};\ntidegate.data = {text};\n'


def write(root: Path, module: Path, site: Path) -> None:
    """Write the page and its scripts into a built site."""
    static, page = site / "_static" / "play", site / "play"
    static.mkdir(parents=True, exist_ok=True)
    page.mkdir(exist_ok=True)
    (static / "data.js").write_text(data(root, module), encoding="utf-8")
    (static / "vega.js").write_text(library(), encoding="utf-8")
    for name in (*(f"{script}.js" for script in SCRIPTS), "play.js", *STYLES):
        shutil.copyfile(HERE / name, static / name)
    scripts = "\n".join(
        f'<script src="../_static/play/{name}.js"></script>' for name in ("data", *SCRIPTS, "play")
    )
    frame = (HERE / "index.html").read_text(encoding="utf-8")
    frame = frame.replace("SCRIPTS", scripts).replace("POLICY", POLICY)
    (page / "index.html").write_text(frame, encoding="utf-8")
