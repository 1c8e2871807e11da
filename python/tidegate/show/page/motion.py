"""The queue of a port in motion: what waits, what is sent and what is lost, instant by instant.

The script of the page plays it from tables that the charts beside it have too.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tidegate.show.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.show.page.charts import Columns

TITLE = "Queue in motion"
NOTE = (
    "A bar is what waits at the port. Packets come in at its left, and the link takes them at its"
    " right. A full width is the longest queue of all settings."
)


def of(
    part: str, labels: Sequence[str], data: Mapping[str, Columns], port: str | None, note: str
) -> str:
    """Return the player of the ports over time of a part; empty where there are none.

    Args:
        part: The part of the page.
        labels: Its controls, in their order.
        data: The tables of the page.
        port: The port that is shown first, where there are several.
        note: What is said of the runs.
    """
    ports = data.get(f"{part}-ports")
    if not ports or not any(ports["queue_packets"]):
        return ""
    names = _busy(ports)
    first = port if port in names else names[0]
    options = "".join(
        f"<option{' selected' if name == first else ''}>{escape(name)}</option>" for name in names
    )
    hidden = " hidden" if len(names) == 1 else ""
    hues = " ".join(PALETTE[index % len(PALETTE)] for index in range(len(labels)))
    by_class = f"{part}-queue-series"
    classes = data[by_class]["class"]["words"] if by_class in data else []
    coloured = f' data-classes="{by_class}"' if classes else ""
    key = "".join(
        f'<span><i style="background:{PALETTE[index % len(PALETTE)]}"></i>{escape(name)}</span>'
        for index, name in enumerate(classes)
    )
    return (
        f'<h3>{TITLE}</h3><p class="note">{NOTE} {escape(note)}</p>'
        f'<div class="motion" data-part="{part}" data-needs="{part}-ports" data-hues="{hues}"'
        f"{coloured}>"
        '<div class="steer"><button type="button">Play</button>'
        '<input type="range" min="0" value="0" aria-label="time"><output></output>'
        f"<label{hidden}>port <select>{options}</select></label></div>"
        f'<div class="key">{key}</div><div class="tanks"></div></div>'
    )


def _busy(ports: Columns) -> list[str]:
    """Return the ports at which packets ever wait, the longest queue first."""
    words, places = ports["port"]["words"], ports["port"]["at"]
    longest = dict.fromkeys(words, 0.0)
    for place, waiting in zip(places, ports["queue_packets"], strict=True):
        longest[words[place]] = max(longest[words[place]], waiting or 0.0)
    return sorted((name for name in words if longest[name] > 0), key=lambda name: -longest[name])
