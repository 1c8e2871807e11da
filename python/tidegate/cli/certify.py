"""`tidegate certify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import Json, Workers, flag, place, print_json, say, stdout, text
from tidegate.cli.keeping import performing
from tidegate.cli.options import Dask, Mix
from tidegate.errors import UsageError

if TYPE_CHECKING:
    from tidegate.certify.controls import Control

HARMS, NOTHING = 3, 4
"""Exit codes where a control does more harm than the standard ones under some condition, and where
one has no verdict at all."""

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CONTROL]...",
        help="Sender controls, such as bbr or qfcp; FILE.py:NAME; or transports as in a scenario.",
    ),
]
Gate = Annotated[
    list[str] | None,
    text("LAW", "A gate in place of a sender control: tide, or tide:admit=clients."),
]
Queue = Annotated[
    list[str] | None, text("LAW", "A queue law in place of a sender control, as fq-codel.")
]
SuiteName = Annotated[
    str | None,
    text(
        "NAME",
        "rfc9743 (default for sender controls), bbr (the cases of the BBR draft), slow-start,"
        " responsiveness (round trips a minute beside transfers), media (default for controls of"
        " media), access-link (default for gates and queue laws), or FILE.toml, as attack writes"
        " them.",
        "--suite",
    ),
]
Against = Annotated[
    str | None, text("NAMES", "Controls to compare with; default: those of the suite.")
]
Only = Annotated[list[str] | None, text("PATTERN", "Only conditions that match; may be repeated.")]
Quick = Annotated[bool, flag("Three seeds in place of five.", "--quick")]
Listed = Annotated[bool, flag("Show every condition, its section and its scenario.", "--list")]
Seeds = Annotated[int | None, typer.Option(min=2, help="Number of seeds.")]
Out = Annotated[Path, place("DIR", "Folder for runs; other controls reuse them.")]
Report = Annotated[
    Path | None, place("DIR", "Also copy the report there; of several controls, their table.")
]


def certify(
    control: Names = None,
    gate: Gate = None,
    queue: Queue = None,
    suite: SuiteName = None,
    against: Against = None,
    only: Only = None,
    quick: Quick = False,
    listed: Listed = False,
    as_json: Json = False,
    seeds: Seeds = None,
    workers: Workers = None,
    dask: Dask = None,
    mix: Mix = False,
    out: Out = Path("out/certify"),
    report: Report = None,
) -> None:
    """Try a control under the conditions of RFC 9743, or a gate on an access link.

    Each condition is judged better than, like or worse than the standard
    controls, or is not settled by its seeds. Ends with 3 if one is worse, with
    4 if a control has no verdict. Runs are saved: rerun to resume.
    """
    from tidegate.certify import certificate, conditions, controls, pages
    from tidegate.papers.runs import Runs
    from tidegate.results.store import display

    if quick and seeds:
        raise UsageError("--quick and --seeds both say how many seeds.", "Give one of them.")
    mine = list(
        {each.name: each for each in tried(control or [], gate or [], queue or [])}.values()
    )
    asked = conditions.suite(suite or controls.suite_of(mine))
    if listed:
        typer.echo(pages.listed(asked))
        return
    if not mine:
        raise UsageError("Which control?", "Name one: tidegate certify cubic, or --gate tide.")
    if as_json and len(mine) > 1:
        raise UsageError("--json prints one certificate.", "Name one control.")
    chosen = certificate.chosen(asked, tuple(only or ()))
    standard = compared(against, asked.standard, mine)
    every = {each.name: each for each in (*standard, *mine)}
    plan = certificate.plan(asked, chosen, list(every.values()))
    wanted = seeds or (certificate.QUICK_SEEDS if quick else certificate.SEEDS)
    with performing(out, plan, mix=mix, workers=workers, dask=dask) as folder:
        runs = Runs(plan, folder, wanted)
        runs.fill(list(plan.cases))
        done = [certificate.judge_all(plan, runs, chosen, each, standard) for each in mine]
        files = folder.publish(pages.files(done))
        if report is not None:
            folder.copy(files[: 1 if len(done) > 1 else None], report)
    if as_json:
        print_json(done[0].document())
    else:
        for each in done:
            stdout().print(pages.table(each))
    say(f"Report: {display((report or out) / files[0])}")
    if any(each.count("worse") for each in done):
        raise typer.Exit(HARMS)
    nothing = [each.control.name for each in done if not each.has_verdicts]
    if nothing:
        say(f"Nothing was judged: no condition has a verdict for {', '.join(nothing)}.")
        raise typer.Exit(NOTHING)


def tried(names: list[str], gates: list[str], queues: list[str]) -> list[Control]:
    """Return what is to be tried; sender controls and laws of the bottleneck do not mix."""
    from tidegate.certify import controls

    if names and (gates or queues):
        raise UsageError(
            "A sender control and a gate or queue law are tried apart.",
            "Leave out the control, or --gate and --queue.",
        )
    laws = (("gate", gates), ("queue", queues))
    found = [controls.stage(kind, name) for kind, some in laws for name in some]
    return [controls.find(name) for name in names] + found


def compared(against: str | None, default: tuple[str, ...], mine: list[Control]) -> list[Control]:
    """Return what is compared with; beside a gate or a queue law it may be one too."""
    from tidegate.certify import controls
    from tidegate.scenario.overrides import split

    names = default if against is None else tuple(each.strip() for each in split(against))
    kinds = [each.stages[0][0] for each in mine if each.transport is None and each.stages]

    def other(name: str) -> Control:
        if name == "none" and "gate" in kinds:
            # the scenario may have a gate of its own
            return controls.stage("gate", name)
        if kinds and name not in controls.CONTROLS:
            return controls.stage(kinds[0], name)
        return controls.find(name)

    found = [other(name) for name in dict.fromkeys(names) if name]
    if not found:
        raise UsageError("There is nothing to compare with.", "--against cubic,reno, for instance.")
    return found
