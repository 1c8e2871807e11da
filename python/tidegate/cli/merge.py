"""`tidegate merge`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

from tidegate.cli.console import Json, flag, place, print_json, say, stdout, where
from tidegate.cli.grids import conclude
from tidegate.cli.options import Metrics, NoPlots
from tidegate.results.location import location


def merge(
    parts: Annotated[list[Path], where("DIR...", "Folders of the shards.")],
    out: Annotated[Path, place("DIR", "Folder for the whole sweep.")],
    metrics: Metrics = None,
    mix: Annotated[bool, flag("Merge shards that different code made.", "--mix")] = False,
    partial: Annotated[
        bool, flag("Merge although runs are missing; a sweep can resume there.", "--partial")
    ] = False,
    no_plots: NoPlots = False,
    as_json: Json = False,
) -> None:
    """Merge the shards of a sweep: the table is that of the whole sweep.

    Refuses shards of different sweeps, shards that overlap, and missing runs.
    """
    from tidegate.grid.grid_result import GridResult
    from tidegate.grid.merge import merge as together
    from tidegate.results.store import display
    from tidegate.show import finished

    files = functools.partial(finished.files, plots=not no_plots)
    done = together(parts, out, GridResult, files, metrics=metrics or (), mix=mix, partial=partial)
    if as_json:
        print_json(done.document())
    else:
        stdout().print(finished.table(done))
    if done.complete:
        conclude(done)
    else:
        say(f"{len(done.subject.jobs) - len(done.rows)} runs are missing.")
    what = "Data" if no_plots else "Data, pictures (PNG, SVG)"
    say(f"{what} and table: {display(location(out).absolute())}")
