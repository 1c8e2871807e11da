"""Tables of a page: they sort by any column."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from tidegate.show.measures import Row, alarming, blocks_of, centre, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.plan import Subject
    from tidegate.show.measures import Value


@dataclass(frozen=True)
class Entry:
    """A number with how it is written, or a text."""

    text: str
    value: float | None = None
    number: bool = True
    control: str | None = None
    alarm: bool = False
    hue: str = ""


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Entry]],
    part: str,
    controls: Sequence[str | None] = (),
    groups: Mapping[int, str] | None = None,
    verdicts: Sequence[str] = (),
) -> str:
    """Return a table; `controls` names the control that switches each column.

    `groups` are headings by the row that they precede; `verdicts` those of
    claims, by which rows are filtered.
    """
    switches = [*controls, *[None] * (len(heads) - len(controls))]
    first = "".join(
        f'<th scope="col"{_of(part, control)}><button type="button">{escape(head)}</button></th>'
        for head, control in zip(heads, switches, strict=True)
    )
    lines = []
    for number, row in enumerate(rows):
        if groups and number in groups:
            lines.append(
                f'<tr class="group"><td colspan="{len(heads)}">{escape(groups[number])}</td></tr>'
            )
        kind = f' data-verdict="{escape(verdicts[number])}"' if verdicts else ""
        lines.append(f"<tr{kind}>" + "".join(_cell(cell, part) for cell in row) + "</tr>")
    body = "\n".join(lines)
    kind, name = (" claims", f' id="{part}-claims"') if verdicts else ("", "")
    return (
        f'<div class="table{kind}"><table class="sorts"{name}><thead><tr>{first}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _of(part: str, control: str | None) -> str:
    if control is None:
        return ""
    return f' data-part="{part}" data-control="{escape(control)}"'


def _cell(cell: Entry, part: str) -> str:
    kind = "alarm" if cell.alarm else "" if cell.number else "text verdict" if cell.hue else "text"
    style = f' class="{kind}"' if kind else ""
    style += f' style="color:{cell.hue}"' if cell.hue else ""
    value = "" if cell.value is None else f"{cell.value:.10g}"
    number = f' data-value="{value}"' if cell.number else ""
    return f"<td{style}{number}{_of(part, cell.control)}>{escape(cell.text)}</td>"


def averages(
    subject: Subject, columns: Sequence[Mapping[str, Any]], labels: Sequence[str], part: str
) -> str:
    """Return measures as lines and controls as columns, as in the terminal."""
    rows: list[list[Entry]] = []
    groups: dict[int, str] = {}
    for block in blocks_of(subject.port, subject.classes, columns):
        groups[len(rows)] = block.title
        for row in block.rows:
            cells = [
                _figure(row, column.get(row.metric), label)
                for column, label in zip(columns, labels, strict=True)
            ]
            rows.append([Entry(row.title, number=False), *cells])
    return table(["measure", *labels], rows, part, [None, *labels], groups)


def _figure(row: Row, value: Value, control: str | None = None) -> Entry:
    mean = centre(value)
    number = None if mean is None else mean * row.scale
    return Entry(shown(value, row.scale), number, control=control, alarm=alarming(row, value))


RUN = (
    Row("completed [1/s]", "completed_per_s"),
    Row("served [%]", "completed_share", 100),
    Row("never admitted [%]", "never_admitted_share", 100),
    Row("FCT mean [s]", "fct_mean_s"),
    Row("FCT p95 [s]", "fct_p95_s"),
    Row("sent again [%]", "retransmitted_share", 100),
)


def runs(rows: Sequence[Mapping[str, Any]], axes: Sequence[str], part: str) -> str:
    """Return a line for each run."""
    heads = [*axes, "seed", *(row.title for row in RUN), "result"]
    lines = [
        [
            *(Entry(row["settings"][key], number=False) for key in axes),
            Entry(str(row["seed"]), float(row["seed"])),
            *(_figure(each, row["all"][each.metric]) for each in RUN),
            Entry(row["result_hash"][:10], number=False),
        ]
        for row in rows
    ]
    return table(heads, lines, part)
