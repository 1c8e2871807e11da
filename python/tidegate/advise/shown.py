"""One screen: the link, what people feel, what to take, what to type, and what cannot be told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.advise.facts import DOWN, UP
from tidegate.advise.fit import ASSUMED, GIVEN, SET
from tidegate.advise.scene import SAYS
from tidegate.advise.verdict import value
from tidegate.results.digits import significant
from tidegate.show.measures import shown
from tidegate.show.people import WORDS as WORDS_OF_PEOPLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from tidegate.advise.fit import Estimate, Link
    from tidegate.advise.many import HowMany
    from tidegate.advise.router import Commands
    from tidegate.advise.verdict import LinkAdvice
    from tidegate.show.advice import Setting, Users
    from tidegate.show.experience import Measure

WORDS = {GIVEN: "given", ASSUMED: "assumed", SET: "set at a shaper"}


def of_link(link: Link) -> Table:
    """Return the link that fits, with intervals and sources."""
    table = Table(box=box.SIMPLE, title="The link", title_justify="left", title_style="bold")
    for name, side in (("", "left"), ("value", "right"), ("95 %", "right"), ("from", "left")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for name in (DOWN, UP):
        way = link.way(name)
        _line(table, f"rate {name} [Mbit/s]", way.rate, 1e-6)
    _line(table, "round trip without load [ms]", link.rtt_s, 1e3)
    for name in (DOWN, UP):
        _line(table, f"full buffer {name} adds [ms]", link.way(name).queue_s, 1e3)
    for name in (DOWN, UP):
        if (loss := link.way(name).loss) is not None:
            _line(table, f"lost {name} [%]", loss, 100.0)
        if law := link.way(name).law:
            table.add_row(f"shaped {name} by", law, "", "tc")
    return table


def _line(table: Table, title: str, found: Estimate | None, scale: float) -> None:
    if found is None:
        table.add_row(Text(title), "-", "", "not known, see below")
        return
    span = ""
    if found.high > found.low:
        span = " to ".join(significant(each * scale, 4) for each in (found.low, found.high))
    source = ", ".join(each for each in (WORDS.get(found.origin, ""), found.why) if each)
    table.add_row(Text(title), significant(found.value * scale, 4), span, Text(source))


LEFT_OUT = ("lost_share", "flow_rate_jain", "never_started_share")
"""Measures that the first screen leaves out where nobody is beyond their last limit: the score of a
call counts what it loses."""


def of_people(judged: LinkAdvice, title: str) -> Table:
    """Return what people feel under each control; a value beyond its last limit is red.

    One screen: the page of the runs has the other measures.
    """
    table = Table(box=box.SIMPLE, title=title, title_justify="left", title_style="bold")
    table.add_column("")
    for setting in judged.settings:
        chosen = setting.name in judged.taken
        table.add_column(setting.name, justify="right", style="bold" if chosen else "")
    for users in judged.users:
        for measure in users.kind.measures:
            beyond = any(_is_beyond(setting, users, measure) for setting in judged.settings)
            if measure.metric in LEFT_OUT and not beyond:
                continue
            cells = [_cell(setting, users, measure) for setting in judged.settings]
            if any(cell.plain != "-" for cell in cells):
                table.add_row(Text(_titled(users, measure)), *cells)
    return table


def _titled(users: Users, measure: Measure) -> str:
    unit = f" [{measure.unit}]" if measure.unit else ""
    limit = ""
    if measure.limits:
        numbers = (f"{each * measure.scale:g}" for each in measure.limits)
        limit = f" <= {'/'.join(numbers)}"
    return f"{users.said}: {WORDS_OF_PEOPLE.get(measure.words, measure.words)}{unit}{limit}"


def _cell(setting: Setting, users: Users, measure: Measure) -> Text:
    found = value(setting, users, measure)
    return Text(
        shown(found, measure.scale), style="red" if _is_beyond(setting, users, measure) else ""
    )


def _is_beyond(setting: Setting, users: Users, measure: Measure) -> bool:
    mean = value(setting, users, measure)["mean"]
    return mean is not None and bool(measure.limits) and mean > max(measure.limits)


def of_commands(found: Commands) -> Text:
    """Return what to type, ready to copy."""
    said = Text()
    said.append(f"On the router: {_control(found)}\n", style="bold")
    if found.missing:
        said.append(f"Give {found.missing} for the other direction.\n")
    for line in found.lines:
        said.append(f"  {line}\n")
    if found.undo:
        said.append(f"  # to take it back: {'; '.join(found.undo)}\n", style="dim")
    if found.gate:
        said.append("The gate, gate.toml (it observes until you let it refuse):\n", style="bold")
        for line in found.gate.splitlines():
            said.append(f"  {line}\n")
    return said


def _control(found: Commands) -> str:
    """Return what the lines control: one direction alone, where the other rate is not known."""
    said = SAYS[found.control]
    if not found.missing:
        return said
    way = "downloads" if found.missing == "--up" else "uploads"
    said = re.sub("(in )?both directions", f"for {way} alone", said)
    return said if found.gate else said.partition(", and the gate")[0]


def of_many(found: Sequence[HowMany]) -> Text:
    """Return how many people fit."""
    said = Text("How many fit\n", style="bold")
    for each in found:
        said.append(f"  {SAYS[each.control]}: {each}\n", style="not bold")
    return said


def of_unknown(link: Link) -> Text:
    """Return what cannot be told, and the remedy of each."""
    said = Text()
    if link.unknown:
        said.append("What cannot be told\n", style="bold")
        for each in link.unknown:
            said.append(f"  - {each}.\n")
    return said


def screen(*parts: RenderableType | None) -> Group:
    """Put the parts that there are below each other."""
    return Group(*(part for part in parts if part is not None))
