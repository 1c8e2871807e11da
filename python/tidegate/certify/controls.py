"""What can be tried: sender controls, gates and queue laws, and how a scenario gets them."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.certify.conditions import ACCESS, FILE, MEDIA, RFC
from tidegate.errors import UsageError
from tidegate.scenario import own, toml
from tidegate.scenario.overrides import shorthand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.certify.conditions import Condition
    from tidegate.scenario.document import Setting


QUIC = "{ quic"
"""How a transport of a real stack, or of a host of the user's own, begins."""
CRATE = "{ crate"
"""How one begins whose control is that of another project's crate."""
FEEDBACK = {"scream": '"33ms"'}
"""Time between two reports, for laws of media whose document asks for another than the suite has:
that of SCReAM recommends one for each frame, or each 40 ms (*Receiver Requirements on Feedback
Intensity*)."""
OF_MEDIA = "a control of media goes with senders of media, and only with them"


@dataclass(frozen=True)
class Control:
    """A sender control, a gate or a queue law, by its name on the command line."""

    name: str
    transport: str | None = None
    """The transport of the senders that get it; None: it is a matter of the bottleneck alone."""
    stages: tuple[Setting, ...] = ()
    """What it is, or needs, at the bottleneck: the stage and its law."""
    endless: bool = True
    """Whether its flows may be without end; where they may not, they send the condition's file."""
    media: str | None = None
    """The law of senders of media; None: it is for other senders."""
    resumes: bool = False
    """Whether it begins with the window of an earlier connection, where a condition has one."""
    laws: Mapping[str, Any] = field(default_factory=dict)
    """The law of the user's own that it is, by the name that scenarios have."""

    @property
    def key(self) -> str:
        """The name of its folder."""
        return "".join(each if each.isalnum() else "-" for each in self.name).strip("-")

    def refused(self, condition: Condition, classes: Mapping[str, Any]) -> str | None:
        """Return why a condition cannot be run, None if it can.

        `classes`: the tables of the classes that would get the control.
        """
        encoders = [_encodes(each) for each in classes.values()]
        if any(encoders) or self.media is not None:
            return None if all(encoders) and self.media is not None else OF_MEDIA
        if any("pages" in each for each in classes.values()) and (why := self._without_pages):
            return why
        receivers = any("receiver" in each for each in classes.values())
        if receivers and (self.transport or "").startswith("{ udp"):
            return "its receivers send no acknowledgements"
        if receivers and self.whole_stack:
            return "its receivers are those of the stack, and honest"
        if condition.queue and any(stage == "queue" for stage, _ in self.stages):
            return f"{self.name} needs a queue law of its own"
        return None

    @property
    def _without_pages(self) -> str | None:
        """Why users cannot load pages over it; None if they can."""
        transport = self.transport or "{ tcp"
        if not transport.startswith(("{ tcp", QUIC, CRATE)):
            return "pages are loaded over TCP, with a control of its own"
        quic = _table(transport).get("quic")
        if isinstance(quic, dict) and quic.get("stack") == "smoltcp":
            return "smoltcp carries no objects, so no pages"
        return None

    @property
    def whole_stack(self) -> bool:
        """Whether it is judged with the handshake, repair and acknowledgements of its project."""
        return (self.transport or "").startswith(QUIC)

    @property
    def foreign(self) -> bool:
        """Whether it is code of another project, which `make stacks` builds in."""
        return (self.transport or "").startswith((QUIC, CRATE))

    def at_senders(self, condition: Condition, classes: Mapping[str, Any]) -> list[Setting]:
        """Return the settings of the classes that get it."""
        found: list[Setting] = []
        if self.transport is not None:
            found += [(f"traffic.{name}.transport", self.transport) for name in classes]
        if self.media is not None:
            key = "transport.udp.media"
            found += [(f"traffic.{name}.{key}.control", self.media) for name in classes]
            if (feedback := FEEDBACK.get(str(_table(self.media).get("law")))) is not None:
                found += [(f"traffic.{name}.{key}.feedback", feedback) for name in classes]
        if self.resumes and condition.saved:
            key = "transport.tcp.resume"
            found += [(f"traffic.{name}.{key}", condition.saved) for name in classes]
        if not self.endless:
            found += [(f"traffic.{name}.size", f'"{condition.file}"') for name in _endless(classes)]
        return found

    def changed(self, condition: Condition, classes: Mapping[str, Any]) -> str:
        """Return what is changed in a condition for it, in words, and nothing without a change."""
        if self.endless or not _endless(classes):
            return ""
        where = "" if condition.file == FILE else f"in `{condition.id}` "
        return f"{where}each flow sends a file of {condition.file} in place of data without end"

    def at_bottleneck(self, *, quic: bool) -> list[Setting]:
        """Return the settings of its stages; `quic`: they are told of sessions over QUIC."""
        found: list[Setting] = []
        for stage, law in self.stages:
            key = f"port.bottleneck.{stage}"
            found.append((key, law))
            if quic and (told := _told(stage, law)):
                found.append((f"{key}.quic", told))
        return found


def _encodes(table: Mapping[str, Any]) -> bool:
    """Tell whether a class sends media."""
    transport = table.get("transport")
    udp = transport.get("udp", {}) if isinstance(transport, dict) else {}
    return "media" in udp


def _endless(classes: Mapping[str, Any]) -> list[str]:
    return [name for name, each in classes.items() if each.get("size") == "unlimited"]


def _table(law: str) -> dict[str, Any]:
    """Return a law as a table; empty if it is none, which the check of the scenario says."""
    try:
        table = tomllib.loads(f"law = {law}")["law"]
    except tomllib.TOMLDecodeError:
        return {}
    return table if isinstance(table, dict) else {}


def _told(stage: str, law: str) -> str | None:
    """Return the setting by which a law sees sessions over QUIC, None if it looks at none."""
    table = _table(law)
    if not table or "quic" in table:
        return None
    if stage == "gate":
        return "{}"
    return "true" if table.get("law") == "dqm" else None


def _tcp(name: str) -> Control:
    return Control(name, f'{{ tcp = {{ profile = "linux", control = "{name}" }} }}')


def _start(name: str, settings: str = "", *, resumes: bool = False) -> Control:
    """Return CUBIC with another start than the HyStart of Linux."""
    text = f'{{ tcp = {{ profile = "linux", control = "cubic"{settings} }} }}'
    return Control(name, text, resumes=resumes)


def _media(name: str) -> Control:
    return Control(name, media=f'{{ law = "{name}" }}')


def _whole(stack: str, name: str) -> Control:
    own = f'stack = "{STACKS[stack]}", control = "{name}"'
    return Control(f"{stack}:{name}", f"{QUIC} = {{ {own} }} }}")


def _crate(name: str) -> Control:
    return Control(name, f'{CRATE} = {{ name = "{name}", profile = "linux" }} }}')


def _explicit(name: str) -> Control:
    return Control(name, f'"{name}"', (("stamp", f'{{ law = "{name}" }}'),))


STACKS = {"quic": "quinn", "quic-noq": "noq", "smoltcp": "smoltcp"}
"""Whole stacks, by what the names of their controls begin with: two of QUIC, one of TCP."""
CRATES = (
    "quinn:cubic",
    "quinn:new-reno",
    "noq:cubic",
    "noq:new-reno",
    "s2n:cubic",
    "s2n:bbr2",
)
"""Controls out of other projects' crates, in the simulator's own TCP."""
CONTROLS = {
    control.name: control
    for control in (
        *(_tcp(name) for name in ("reno", "cubic", "bbr", "bbr3", "dctcp", "prague", "ledbat")),
        _start("hystart++", ', start = "hystart++"'),
        _start("search", ', start = "search"'),
        _start("careful-resume", resumes=True),
        _start("paced-start", ", paced_start = true"),
        *(_explicit(name) for name in ("qfcp", "xcp", "rcp", "vcp")),
        *(_whole(stack, name) for stack in STACKS for name in ("cubic", "new-reno")),
        *(_crate(name) for name in CRATES),
        *(_media(name) for name in ("nada", "gcc", "scream")),
        Control("none"),
        # the gate of a condition's own scenario
        Control("static"),
        Control("blitz", '"blitz"', (("queue", '{ law = "pushout" }'),), endless=False),
    )
}


def find(text: str) -> Control:
    """Return a control by its name, as FILE.py:NAME, or by a transport, `{ tcp = ... }`.

    A table `{ law = ... }` is a law of media.

    Raises UsageError for another name.
    """
    if text.replace(" ", "").startswith("{law="):
        return Control(text, media=text)
    if text.lstrip().startswith("{"):
        return Control(text, text)
    if ".py:" in text:
        name, laws = _own(text)
        return Control(text, f'{{ python = {{ name = "{name}", profile = "linux" }} }}', laws=laws)
    if text not in CONTROLS:
        names = ", ".join(name for name in CONTROLS if name not in ("none", "static"))
        raise UsageError(
            f"There is no control {text}.",
            f"Controls: {names}; or one of your own, FILE.py:NAME; or a transport as a scenario"
            ' has it, such as \'{ tcp = { profile = "linux", hystart = "none" } }\'.',
        )
    return CONTROLS[text]


def suite_of(tried: Sequence[Control]) -> str:
    """Return the suite in which these are tried where none is named.

    What a port has, a gate or a queue law, is tried on an access link, also with senders beside it.
    """
    if not tried:
        return RFC
    if all(each.media is not None for each in tried):
        return MEDIA
    return ACCESS if any(each.transport is None and each.stages for each in tried) else RFC


def stage(kind: str, text: str) -> Control:
    """Return a gate or a queue law by its name, with settings behind colons or without.

    Or as FILE.py:NAME, or by a table `{ law = ... }`.

    Whether there is such a law is checked with the scenarios.
    """
    if ".py:" in text:
        name, laws = _own(text)
        limiter = ', limiter = "token-bucket"' if kind == "gate" else ""
        table = f'{{ law = "python", name = "{name}"{limiter} }}'
        return Control(text, stages=((kind, table),), laws=laws)
    law = text if text.lstrip().startswith("{") else toml.inline(shorthand(kind, text))
    return Control(text, stages=((kind, law),))


def _own(text: str) -> tuple[str, dict[str, Any]]:
    """Return a law of the user's own by a name with a hash of its files: runs are saved by name."""
    [(name, law)] = (own.laws([text]) or {}).items()
    files = own.sources(Path(text.rpartition(":")[0]))
    source = b"".join(hashlib.blake2b(each.read_bytes()).digest() for each in files)
    marked = f"{name}-{hashlib.blake2b(source, digest_size=4).hexdigest()}"
    return marked, {marked: law}
