"""A page under construction: texts, charts with their tables, and the script that draws them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from tidegate import _native
from tidegate.errors import TidegateError

if TYPE_CHECKING:
    from tidegate.show.page.charts import Chart, Columns

NEEDED = (
    "The library that draws in browsers is not there: vl-convert-python.",
    "Install it: pip install vl-convert-python.",
)


HELP = (
    '<p class="soft">Point at a picture for its numbers; drag to move it, turn the wheel with Ctrl'
    " to zoom, double-click for the whole. Click the head of a column to sort. FCT is the flow"
    " completion time of a session, from its first SYN to the last acknowledgement.</p>"
)


@dataclass
class Page:
    """A page under construction: its contents, and the tables that its charts show."""

    data: dict[str, Columns] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    charts: int = 0

    def heading(self, anchor: str, title: str) -> None:
        """Begin a part."""
        self.links.append((anchor, title))
        self.body.append(f'<h2 id="{anchor}">{escape(title)}</h2>')

    def text(self, html: str) -> None:
        """Add what is HTML already."""
        self.body.append(html)

    def chart(self, part: str, chart: Chart) -> None:
        """Add a chart; it is drawn when it comes into sight."""
        self.charts += 1
        spec = _embedded(chart.spec)
        switched = ' data-switched="yes"' if chart.switched else ""
        self.body.append(
            f'<h3>{escape(chart.title)}</h3><p class="note">{escape(chart.note)}</p>'
            f'<div class="chart" id="chart-{self.charts}" data-part="{part}"{switched}'
            f' data-needs="{chart.needs}">'
            f'<script type="application/json">{spec}</script></div>'
        )

    def html(self, title: str) -> str:
        """Return the whole, with everything that it needs."""
        links = "".join(f'<a href="#{anchor}">{escape(text)}</a>' for anchor, text in self.links)
        nav = f"<nav>{links}</nav>" if len(self.links) > 1 else ""
        return "\n".join(
            [
                '<!doctype html><html lang="en"><head><meta charset="utf-8">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<title>{escape(title)}</title><style>{_asset('page.css')}</style></head><body>",
                f"<header><h1>{escape(title)}</h1>{nav}{HELP}</header><main>",
                *self.body,
                f"</main><footer>Made by tidegate {_native.__version__}. This page is one file and"
                " loads nothing from elsewhere.</footer>",
                f'<script type="application/json" id="data">{_embedded(self.data)}</script>',
                f"<script>{library()}</script><script>{_asset('page.js')}</script></body></html>",
            ]
        )


def _asset(name: str) -> str:
    return files("tidegate.show.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script without imports."""
    try:
        import vl_convert
    except ImportError:
        raise TidegateError(*NEEDED) from None
    script: str = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub knows no default
    return script.replace("</script", "<\\/script")


def _embedded(value: object) -> str:
    """Return JSON that is safe inside an HTML element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")
