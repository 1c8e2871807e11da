"""A paper on a page: its claims, which filter by verdict, and the ratio of each number to it."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from tidegate.show.page import charts
from tidegate.show.page.charts import Chart, hue, number, tip
from tidegate.show.page.tables import Entry, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HUES = {
    "met": "#009E73",
    "depends on a guess": "#56B4E9",
    "unresolved": "#E69F00",
    "not met": "#D55E00",
    "contradicted": "#CC79A7",
    "cannot be checked": "#999999",
}


def ratios(claims: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the ratio of measured to paper for the claims that are numbers."""
    lines = []
    for claim in claims:
        paper, measured = claim["paper"], claim["measured"]
        if not all(isinstance(each, int | float) for each in (paper, measured)):
            continue
        if claim["kind"] in ("ordering", "setup") or paper == 0 or not math.isfinite(measured):
            continue
        lines.append(
            {
                "claim": claim["id"],
                "verdict": claim["verdict"],
                "what": f"{claim['metric']} [{claim['unit']}]",
                "paper": float(paper),
                "measured": float(measured),
                "ratio": float(measured) / float(paper),
            }
        )
    return pl.DataFrame(lines)


def drawn(needs: str, count: int) -> Chart:
    """Return the chart of the ratios of measured numbers to those of the paper."""
    axis = {"labels": count <= 60, "ticks": False, "labelLimit": 260}
    of = {"name": "of", "select": {"type": "point", "fields": ["verdict"]}, "bind": "legend"}
    names = {"claim": "claim", "what": "what", "verdict": "verdict"}
    numbers = {"paper": "paper", "measured": "measured", "ratio": "measured / paper"}
    spec = charts.spec(
        needs,
        min(max(14 * count, 120), 900),
        params=[charts.ZOOM_ACROSS, of],
        mark={"type": "point", "filled": True, "size": 70},
        encoding={
            "y": {"field": "claim", "type": "nominal", "title": None, "sort": None, "axis": axis},
            "x": number("ratio", "measured / paper", zero=False),
            "color": hue("verdict", list(HUES), list(HUES.values()), columns=3),
            "opacity": {"condition": {"param": "of", "value": 1}, "value": 0.08},
            "tooltip": [
                *(tip(field, title, kind="nominal") for field, title in names.items()),
                *(tip(field, title) for field, title in numbers.items()),
            ],
        },
    )
    note = "Claims that are numbers; at 1 both agree. Click a verdict to see only its claims."
    return Chart("Measured compared with the paper", note, spec, needs, switched=False)


def filtered(found: Mapping[str, Any], part: str) -> str:
    """Return the table of all claims, with buttons that filter it."""
    claims, name = found["claims"], f"{part}-claims"
    counts = {"": len(claims), **found["counts"]}
    buttons = "".join(
        f'<button type="button" aria-pressed="{"false" if verdict else "true"}"'
        f' data-verdict="{escape(verdict)}">{escape(verdict or "all")} {count}</button>'
        for verdict, count in counts.items()
    )
    heads = ("claim", "kind", "where", "what", "paper", "measured", "verdict", "why")
    verdicts = [claim["verdict"] for claim in claims]
    rows = [_row(claim) for claim in claims]
    return (
        f'<div class="filters" data-table="{name}">{buttons}'
        '<input type="search" placeholder="filter by words" aria-label="filter by words">'
        f'<output class="soft"></output></div>{table(heads, rows, part, verdicts=verdicts)}'
    )


def _row(claim: Mapping[str, Any]) -> list[Entry]:
    texts = [claim["id"], claim["kind"], claim["where"], f"{claim['metric']} [{claim['unit']}]"]
    verdict = claim["verdict"]
    return [
        *(Entry(str(each), number=False) for each in texts),
        *(_number(claim[name]) for name in ("paper", "measured")),
        Entry(verdict, number=False, hue=HUES.get(verdict, "#1c2430")),
        Entry(claim["reason"], number=False),
    ]


def _number(value: object) -> Entry:
    if isinstance(value, int | float):
        return Entry(f"{value:.4g}", float(value))
    return Entry("" if value is None else str(value), number=False)
