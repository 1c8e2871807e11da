"""`tidegate study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import Workers, place, say, text
from tidegate.cli.keeping import performing
from tidegate.cli.options import Dask, Mix, refuse_alone

Key = Annotated[
    str | None, typer.Argument(metavar="[KEY]", help="Key of a study; without it, list them.")
]
Only = Annotated[
    list[str] | None,
    text("PATTERN", "Run only the cases that match, as in 'linux/*/steady:*'; may be repeated."),
]
Seeds = Annotated[int | None, typer.Option(min=1, help="Number of seeds; default the study's.")]
Out = Annotated[
    Path | None, place("DIR", "Folder for runs, resumed if interrupted; default out/study-KEY.")
]
Report = Annotated[Path | None, place("DIR", "Also copy the report and its pictures there.")]


def study(
    key: Key = None,
    only: Only = None,
    seeds: Seeds = None,
    workers: Workers = None,
    dask: Dask = None,
    mix: Mix = False,
    out: Out = None,
    report: Report = None,
) -> None:
    """Make a study that comes with tidegate, and write its report.

    Complete runs are saved: rerun the command to resume. The report covers the
    cases that are complete, and says how many they are.
    """
    from tidegate import studies
    from tidegate.results.store import display
    from tidegate.studies.study import PAGE, perform_study

    if key is None:
        alone = {"--only": only, "--seeds": seeds, "--mix": mix, "--out": out, "--report": report}
        refuse_alone(alone, "study", tuple(studies.STUDIES), "tidegate study")
        for name in studies.STUDIES:
            typer.echo(f"{name}: {studies.load(name).title}")
        return
    asked = studies.load(key)
    patterns = tuple(only or ())
    asked.chosen(patterns)  # refuse a pattern without a match before a folder is made
    target = out or Path("out") / f"study-{key}"
    with performing(target, asked, mix=mix, workers=workers, dask=dask) as folder:
        ran, runs = perform_study(asked, folder, patterns, seeds)
        if report is not None:
            folder.copy(folder.files, report)
        say(f"{ran} new runs; {len(runs.declared)} of {len(asked.cases)} cases are complete.")
        say(f"Report: {display((report or folder.target) / PAGE)}")
