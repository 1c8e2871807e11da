"""The pictures of the report for the page that runs scenarios, by the report's own functions.

The page has the tables of its runs, and `play/report.js` computes from them what a picture shows.
Its specification is written here from a sample in which everything happens: controls have names
that stand for those of the page, and the page fills in its ports, classes and flows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tidegate
from tidegate.show import of_runs
from tidegate.show.page import charts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidegate.show.picture import Picture

LABELS = ("\u0001first", "\u0001second")
"""What stands for the names of one control, or of two."""
SAMPLE = """
name     = "sample"
duration = "8s"

[topology.dumbbell]
pairs      = 2
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "5Mbit", delay = "10ms", buffer = "50packets" }

[traffic.web]
arrivals = { at = ["0s", "1s"] }
size     = "10kB"
pages    = { document = "10kB", objects = 2 }

[traffic.file]
arrivals = { at = ["0s", "1s"] }
size     = "100kB"

[series]
flows   = ["file:0"]
classes = ["file"]
every   = "10ms"
"""


def pictures(folders: Mapping[str, Sequence[Path]], window: tuple[float, float]) -> list[Picture]:
    """Return the report's pictures of runs that the page has too, in the order of the report.

    Args:
        folders: The run of each control.
        window: Warm-up and duration.
    """
    first = {label: runs[0] for label, runs in folders.items()}
    flows = {label: of_runs.flows(run) for label, run in first.items()}
    found = [
        of_runs.ports(folders),
        of_runs.classes(flows, first, window[1], ""),
        *(each for each in of_runs.followed(folders) if each.key.endswith("-series")),
        of_runs.pages(folders, window[1]),
        of_runs.by_size(folders, window[0]),
        of_runs.single(flows, ""),
    ]
    return [each for each in found if each is not None]


def data() -> dict[str, Any]:
    """Return what the page needs to draw them: specifications for one control and for two."""
    with tempfile.TemporaryDirectory() as folder:
        run = tidegate.run(SAMPLE).save(Path(folder) / "run")
        shown = [
            list(_charts(pictures({label: [run] for label in LABELS[:many]}, (0.0, 8.0))))
            for many in (1, 2)
        ]
    return {
        "labels": LABELS,
        "charts": shown,
        "limits": {
            "instants": of_runs.INSTANTS,
            "flows": of_runs.FLOWS,
            "edges": of_runs.SIZES.tolist(),
        },
    }


def _charts(found: Sequence[Picture]) -> Iterator[dict[str, Any]]:
    for picture in found:
        chart = charts.of(picture, picture.key)
        yield {
            "key": picture.key,
            "title": chart.title,
            "note": chart.note.strip(),
            "needs": chart.needs,
            "split": picture.split,
            "spec": chart.spec,
        }
