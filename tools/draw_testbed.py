"""Draw the results of `tidegated testbed`: the congested queue, and how the filter moved.

`python -m tools.draw_testbed FOLDER --source 1 --max-th 35` writes `FOLDER/filter.png`.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tidegate.show.style import GREY, RULES, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, str]


@dataclass(frozen=True)
class Found:
    """The tables of a testbed's folder."""

    queues: Sequence[Row]
    dropped: Sequence[Row]
    events: Sequence[Row]
    connections: Sequence[Row]


def main() -> None:
    """Read the tables, write the picture, and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the --out of tidegated testbed")
    parser.add_argument("--source", required=True, help="node whose packets are shown")
    parser.add_argument("--max-th", type=float, required=True, help="threshold of LGC, in packets")
    asked = parser.parse_args()
    names = ("queues", "dropped", "events", "connections")
    found = Found(**{name: _table(asked.folder / f"{name}.csv") for name in names})
    picture = asked.folder / "filter.png"
    draw(found, asked.source, asked.max_th, picture)
    print(f"the picture is {picture}")


def draw(found: Found, source: str, max_th: float, picture: Path) -> None:
    """Draw the queue over arrivals, and the packets of the source over nodes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(cast("Any", RULES)):
        figure, (queue, way) = plt.subplots(1, 2, figsize=(13, 4.8))
        _queue(queue, found, max_th)
        _way(way, found, source)
        figure.savefig(picture, dpi=130)
        plt.close(figure)


def _queue(axes: "Axes", found: Found, max_th: float) -> None:
    """Draw the congested queue, arrival by arrival, as Figures 5, 8 and 11 of the paper do."""
    trigger = next((row for row in found.events if row["phase"] == "trigger"), None)
    port = trigger["port"] if trigger else ""
    rows = [row for row in found.queues if row["port"].startswith(f"{port}-")]
    # the link that filled up is the one with the longest queue
    longest = max(rows, key=lambda row: int(row["queue_packets"]), default=None)
    rows = [row for row in rows if longest is not None and row["port"] == longest["port"]]
    axes.plot([int(row["queue_packets"]) for row in rows], lw=0.9, color=colour(4), label="queue")
    axes.plot(
        [float(row["avg_queue_packets"]) for row in rows], color=colour(0), label="its average"
    )
    axes.axhline(max_th, color=GREY, ls="--", lw=1, label="max_th")
    over = (i for i, row in enumerate(rows) if float(row["avg_queue_packets"]) > max_th)
    at = next(over, None)
    if at is not None:
        axes.axvline(at, color=colour(1), lw=1.2, label="LGC filters the greediest source")
    axes.set_xlabel(f"arrivals at the queue of node {port}")
    axes.set_ylabel("queue length [packets]")
    axes.set_title("the congested queue")
    axes.legend(frameon=False)


def _way(axes: "Axes", found: Found, source: str) -> None:
    """Draw which packets of the source ended where, and when each filter began."""
    connection = next(row for row in found.connections if row["origin"] == source)
    drops = [row for row in found.dropped if row["origin"] == source]
    began = {
        row["port"]: float(row["time_s"])
        for row in reversed(found.events)
        if row["phase"] == "filter" and row["origin"] == source
    }
    first = int(drops[0]["first"]) if drops else int(connection["packets"]) + 1
    axes.barh(0, first - 1, left=1, color=colour(2))
    note = f"{connection['arrived']} of {connection['packets']} delivered"
    axes.annotate(note, (2, 0), va="center", color="white")
    nodes = [connection["to"]]
    for row in drops:
        if row["node"] not in nodes:
            nodes.append(row["node"])
        height = nodes.index(row["node"])
        axes.barh(height, int(row["packets"]), left=int(row["first"]), color=colour(1))
        text = f"{row['first']} to {row['last']} dropped; filter since {began[row['node']]:.2f} s"
        # on the side that has more room
        left = int(row["first"]) + int(row["last"]) > int(connection["packets"])
        at = int(row["first"]) - 3 if left else int(row["last"]) + 3
        axes.annotate(text, (at, height), va="center", ha="right" if left else "left")
    axes.set_yticks(range(len(nodes)), nodes)
    axes.set_xlabel(f"packets of node {source}, in the order in which it sent them")
    axes.set_title("the filter moves towards the source")


def _table(path: Path) -> Sequence[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
