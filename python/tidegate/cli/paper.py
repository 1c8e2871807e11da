"""`tidegate paper`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import Json, Workers, flag, place, print_json, say, stdout, text
from tidegate.cli.keeping import performing
from tidegate.cli.options import Dask, Mix, refuse_alone
from tidegate.errors import UsageError
from tidegate.scenario.document import setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.request import PaperResult, Request
    from tidegate.papers.study import PaperStudy

Key = Annotated[
    str | None, typer.Argument(metavar="[KEY]", help="Key of a paper; without it, list them.")
]
Only = Annotated[
    list[str] | None,
    text(
        "ID",
        "Only these claims or this figure, as in table4, table1.admit65.fct or fig2; may be"
        " repeated.",
    ),
]
Explain = Annotated[
    str | None, text("ID", "Print the code, settings, runs and rule by which a claim is judged.")
]
Quick = Annotated[bool, flag("Only tables and figures, with few seeds; about a minute.", "--quick")]
Sensitivity = Annotated[
    bool,
    flag(
        "Judge claims under other values of each guess, and write that table only.", "--sensitivity"
    ),
]
Again = Annotated[
    bool,
    flag(
        "Judge claims again with seeds by which no setting was chosen, and write which verdicts"
        " turn.",
        "--again",
    ),
]
Search = Annotated[
    bool,
    flag(
        "Search the parameters that the paper does not give, scored on the claims named for"
        " it, and write that table only.",
        "--search",
    ),
]
Set = Annotated[
    list[str] | None,
    text(
        "KEY=VALUE",
        "Judge claims with this setting in every scenario, beside as taken; may be repeated."
        " Writes no report.",
        "--set",
    ),
]
Seeds = Annotated[
    int | None, typer.Option(min=1, help="Number of seeds; default the paper's, at least 5.")
]
Out = Annotated[
    Path | None, place("DIR", "Folder for runs, resumed if interrupted; default out/paper-KEY.")
]
Testbed = Annotated[
    Path | None,
    place(
        "DIR",
        "Results of `tidegated testbed` to compare with the simulation, one folder per"
        " experiment; default those that come with the paper.",
    ),
]
Report = Annotated[
    Path | None,
    place(
        "DIR",
        "Also copy the report and its pictures there; default for a whole paper, in a"
        " checkout: docs/papers/KEY.",
    ),
]


def paper(
    key: Key = None,
    only: Only = None,
    explain: Explain = None,
    quick: Quick = False,
    sensitivity: Sensitivity = False,
    again: Again = False,
    search: Search = False,
    settings: Set = None,
    seeds: Seeds = None,
    workers: Workers = None,
    dask: Dask = None,
    mix: Mix = False,
    testbed: Testbed = None,
    out: Out = None,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Reproduce the tables and figures of a paper, and judge its claims one by one.

    Complete runs are saved. After Ctrl-C, or when only claims have changed,
    rerun the command: it simulates only the missing runs.
    """
    from tidegate.papers import parameter_search, perform, there, title
    from tidegate.papers import report as report_of
    from tidegate.papers.explain import explained
    from tidegate.papers.request import Request

    ways = {"--explain": explain is not None, "--sensitivity": sensitivity, "--again": again}
    ways |= {"--search": search, "--set": settings is not None}
    more = {"--quick": quick, "--only": only, "--seeds": seeds, "--testbed": testbed}
    more |= {"--json": as_json, "--report": report}
    if key is None:
        alone = ways | more | {"--mix": mix, "--out": out}
        refuse_alone(alone, "paper", there(), "tidegate paper")
        for name in there():
            typer.echo(f"{name}: {title(name)}")
        return
    _refuse_together(ways, more)
    study = _loaded(key, search=search, testbed=testbed is not None)
    own = tuple(setting(each) for each in settings or ())
    asked = Request(
        tuple(only or ()) if explain is None else (explain,), quick, seeds, testbed, 1, own
    )
    asked.claims(study)  # a name that fits nothing is refused before a folder is made
    target = out or Path("out") / f"paper-{key}"
    with performing(target, study, mix=mix, workers=workers, dask=dask) as folder:
        if explain is not None:
            done = perform.judged(study, folder, asked)
            of = asked.reasons_of(study)
            said = (explained(study, done.runs, each, of) for each in done.outcomes)
            typer.echo("\n\n".join(said))
        elif sensitivity:
            perform.sensitivity(study, folder, asked)
            _copy([report_of.SENSITIVITY], folder, report, asked, study)
        elif own:
            _tried(perform.tried(study, folder, asked), as_json)
        elif again:
            _end(perform.again(study, folder, asked), folder, report, as_json)
        elif search:
            parameter_search.search(study, folder, seeds or 1)
            eras = [report_of.ERAS] if any(each.eras for each in study.choices) else []
            names = [parameter_search.ALL, parameter_search.FILE, *eras]
            _copy(names, folder, report, asked, study)
        else:
            done = perform.regenerate(study, folder, asked)
            _end(done, folder, report, as_json)


_NO_EFFECT = {
    "--explain": ("--only", "--json", "--report"),
    "--sensitivity": ("--quick", "--testbed", "--json"),
    "--again": ("--quick", "--json"),
    "--search": ("--quick", "--only", "--testbed", "--json"),
    "--set": ("--testbed", "--report"),
}
"""Options without effect in a mode."""


def _loaded(key: str, *, search: bool, testbed: bool) -> PaperStudy:
    """Return the study of a paper, which must have a search or a testbed if asked for."""
    from tidegate import papers

    study = papers.load(key)
    if search and not study.choices:
        raise UsageError(f"The paper {key} has no parameter search.", "Try `session`.")
    if testbed and not (study.folder / "testbed").is_dir():
        raise UsageError(f"The paper {key} has no testbed.", "Leave --testbed out.")
    return study


def _refuse_together(ways: Mapping[str, object], more: Mapping[str, object]) -> None:
    """Refuse two modes at once, and options without effect."""
    chosen = [name for name, value in ways.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} cannot be combined.", "Give one of them.")
    for way in chosen:
        for name in _NO_EFFECT[way]:
            if more[name] not in (None, False):
                raise UsageError(f"{name} has no effect with {way}.", f"Leave {name} out.")


def _tried(both: tuple[PaperResult, PaperResult], as_json: bool) -> None:
    """Print claims as taken beside the same with settings of the user's own."""
    from tidegate.papers.tables import of_tried

    usual, other = both
    if as_json:
        print_json(other.document())
    else:
        stdout().print(of_tried(usual, other))
    say(f"{other.ran or 'none'} of the runs new; {other.wall_s:.0f} s.")


def _end(done: PaperResult, folder: CaseFolder, report: Path | None, as_json: bool) -> None:
    from tidegate.papers.tables import of_outcomes

    if as_json:
        print_json(done.document())
    else:
        stdout().print(of_outcomes(done))
    new = f", {done.ran or 'none'} of them new"
    say(f"{done.runs.cost['runs']:.0f} runs{new}; {done.wall_s:.0f} s.")
    _copy(done.files, folder, report, done.request, done.study)


def page(key: str) -> Path | None:
    """Return where a checkout keeps the report of a paper, or None if this is none."""
    here = Path("python") / "tidegate" / "papers" / key / "claims.csv"
    return Path("docs") / "papers" / key if here.is_file() else None


def _copy(
    names: list[str], folder: CaseFolder, report: Path | None, asked: Request, study: PaperStudy
) -> None:
    from tidegate.papers import overview, there
    from tidegate.results.store import display

    place = report
    if place is None and asked.whole(study):
        place = page(study.key)
    if place is not None:
        folder.copy(names, place)
        if place == page(study.key):
            overview.write(place.parent, there())
    last = "REPORT.md" if "REPORT.md" in names else names[-1]
    say(f"Report: {display((place or folder.target) / last)}. Runs: {display(folder.target)}")
