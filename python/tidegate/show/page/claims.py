"""A paper on a page: its claims, which filter by verdict, and how far each number is off."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from tidegate.show.page import charts
from tidegate.show.page.charts import Chart, tip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HUES = {
    "met": "#009E73",
    "calibrated": "#56B4E9",
    "unresolved": "#E69F00",
    "not met": "#D55E00",
    "contradicted": "#CC79A7",
    "cannot be checked": "#999999",
}


TEXT = ' class="text"'


def ratios(claims: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return measured over paper of the claims that are numbers."""
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
    """Return the chart of how far numbers are off."""
    names = {"domain": list(HUES), "range": list(HUES.values())}
    verdict = {"field": "verdict", "type": "nominal", "scale": names}
    spec = charts.spec(
        needs,
        min(max(14 * count, 120), 900),
        params=[
            charts.ZOOM_ACROSS,
            {"name": "of", "select": {"type": "point", "fields": ["verdict"]}, "bind": "legend"},
        ],
        mark={"type": "point", "filled": True, "size": 70},
        encoding={
            "y": {
                "field": "claim",
                "type": "nominal",
                "title": None,
                "sort": None,
                "axis": {"labels": count <= 60, "ticks": False, "labelLimit": 260},
            },
            "x": {
                "field": "ratio",
                "type": "quantitative",
                "title": "measured / paper",
                "scale": {"zero": False},
            },
            "color": {**verdict, "legend": {"orient": "top", "title": None, "columns": 3}},
            "opacity": {"condition": {"param": "of", "value": 1}, "value": 0.08},
            "tooltip": [
                tip("claim", "claim", kind="nominal"),
                tip("what", "what", kind="nominal"),
                tip("paper", "paper"),
                tip("measured", "measured"),
                tip("ratio", "measured / paper"),
                tip("verdict", "verdict", kind="nominal"),
            ],
        },
    )
    note = "Claims that are numbers; 1 is what the paper says. Click a verdict to see its own."
    return Chart("How far numbers are off", note, spec, needs, switched=False)


def table(found: Mapping[str, Any], part: str) -> str:
    """Return all claims, with buttons that filter them."""
    claims, counts = found["claims"], found["counts"]
    buttons = [
        f'<button type="button" aria-pressed="true" data-verdict="">all {len(claims)}</button>'
    ]
    buttons += [
        f'<button type="button" aria-pressed="false" data-verdict="{escape(verdict)}">'
        f"{escape(verdict)} {number}</button>"
        for verdict, number in counts.items()
    ]
    heads = ("claim", "kind", "where", "what", "paper", "measured", "verdict", "why")
    numbers = ("paper", "measured")
    head = "".join(
        f'<th scope="col"{"" if each in numbers else TEXT}>'
        f'<button type="button">{each}</button></th>'
        for each in heads
    )
    lines = "\n".join(_line(claim) for claim in claims)
    return (
        f'<div class="filters" data-table="{part}-claims">{"".join(buttons)}'
        '<input type="search" placeholder="filter by words" aria-label="filter by words">'
        '<output class="soft"></output></div>'
        f'<div class="table claims"><table class="sorts" id="{part}-claims">'
        f"<thead><tr>{head}</tr></thead><tbody>\n{lines}\n</tbody></table></div>"
    )


def _line(claim: Mapping[str, Any]) -> str:
    verdict = claim["verdict"]
    hue = HUES.get(verdict, "#1c2430")
    cells = [claim["id"], claim["kind"], claim["where"], f"{claim['metric']} [{claim['unit']}]"]
    texts = "".join(f'<td class="text">{escape(str(each))}</td>' for each in cells)
    numbers = "".join(_number(claim[name]) for name in ("paper", "measured"))
    return (
        f'<tr data-verdict="{escape(verdict)}">{texts}{numbers}'
        f'<td class="text verdict" style="color:{hue}">{escape(verdict)}</td>'
        f'<td class="text">{escape(claim["reason"])}</td></tr>'
    )


def _number(value: object) -> str:
    if isinstance(value, int | float):
        return f'<td data-value="{value:.10g}">{value:.4g}</td>'
    return f'<td class="text">{escape(str(value if value is not None else ""))}</td>'
