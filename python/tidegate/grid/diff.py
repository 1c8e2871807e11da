"""Two folders of results side by side: their settings, and what the second has more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError
from tidegate.grid.compatibility import changes, made_by, of_scenario
from tidegate.grid.grid_result import GridResult
from tidegate.grid.plan import Point, Subject
from tidegate.results.statistics import differences, same_flows
from tidegate.results.store import display

if TYPE_CHECKING:
    from tidegate.grid.load import Loaded

    Row = dict[str, Any]


@dataclass(frozen=True)
class Diff:
    """What two folders hold."""

    names: tuple[str, str]
    done: GridResult
    """All settings of both, with the folder as their first axis."""
    differences: list[Row]
    """Of each setting that both have: its `settings`, and by metric what the second has more."""
    same_flows: bool
    """Whether runs of one setting and seed met the same flows in both."""
    differs: list[str]
    """In what the two were made of, or by, something else."""

    def document(self) -> Row:
        """Return the object that `--json` prints."""
        return {
            **self.done.document(),
            "differences": self.differences,
            "same_flows": self.same_flows,
            "differs": self.differs,
        }


def diff(first: Loaded, second: Loaded) -> Diff:
    """Set two folders side by side; UsageError where there is nothing to compare."""
    names = _names(first, second)
    both = (first, second)
    for each in both:
        if each.command == "paper":
            raise UsageError(
                f"{display(each.folder)} holds a paper: its runs have no table of their own.",
                "Name folders of run, compare or sweep.",
            )
    done = [_measured(each) for each in both]
    rows = [
        {**row, "settings": {"folder": name, **row["settings"]}}
        for name, each in zip(names, done, strict=True)
        for row in each.rows
    ]
    averages = [
        {**row, "settings": {"folder": name, **row["settings"]}}
        for name, each in zip(names, done, strict=True)
        for row in each.averages
    ]
    whole = GridResult(_subject(done, names), rows, averages)
    found, same = _differences(*done)
    return Diff(names, whole, found, same, _differs(first, second))


def _names(first: Loaded, second: Loaded) -> tuple[str, str]:
    """Return what the folders are called: the last part of their path that differs."""
    paths = [each.folder.resolve() for each in (first, second)]
    if paths[0] == paths[1]:
        raise UsageError(f"Both are {display(paths[0])}.", "Name two different folders.")
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        ends = ["/".join(path.parts[-depth:]) for path in paths]
        if ends[0] != ends[1]:
            return ends[0], ends[1]
    raise AssertionError("two paths that differ, differ somewhere")


def _measured(loaded: Loaded) -> GridResult:
    if loaded.command != "run":
        return loaded.result(GridResult, drawn=False)
    summary = loaded.run.summary
    subject = Subject(
        command="compare",
        name=summary["scenario"],
        warmup_s=summary["warmup_s"],
        duration_s=summary["duration_s"],
        classes=tuple(each["name"] for each in summary["classes"]),
        ports=tuple(port["name"] for port in summary["ports"]),
        port=next((p["name"] for p in summary["ports"] if p["name"] == "bottleneck"), None),
        axes={},
        points=(Point({}, "", {}),),
        seeds=(summary["seed"],),
    )
    return GridResult.of(subject, {(0, summary["seed"]): summary})


def _subject(done: list[GridResult], names: tuple[str, str]) -> Subject:
    """Return what both are about; classes and ports are those that both have."""
    one, other = (each.subject for each in done)
    return replace(
        one,
        command="compare",
        classes=tuple(name for name in one.classes if name in other.classes),
        port=one.port if one.port == other.port else None,
        axes={"folder": names},
        seeds=tuple(sorted({*one.seeds, *other.seeds})),
    )


def _differences(first: GridResult, second: GridResult) -> tuple[list[Row], bool]:
    """Return what the second has more, setting by setting, and whether the flows were the same."""
    pairs = []
    for average in second.averages:
        settings = average["settings"]
        these = [row for row in second.rows if row["settings"] == settings]
        those = [row for row in first.rows if row["settings"] == settings]
        if len(second.averages) == len(first.averages) == 1:
            those = first.rows  # one setting in each: they are what is compared
        if {row["seed"] for row in these} & {row["seed"] for row in those}:
            pairs.append((settings, these, those))
    same = all(same_flows(these, those) for _, these, those in pairs)
    found = [
        {"settings": settings, **differences(these, those, paired=same)}
        for settings, these, those in pairs
    ]
    return found, same and bool(found)


def _differs(first: Loaded, second: Loaded) -> list[str]:
    found = []
    one, other = first.manifest, second.manifest
    if one["code_hash"] != other["code_hash"]:
        found.append(f"code: there {made_by(one)}; here {made_by(other)}")
    if one["effective_scenario"] != other["effective_scenario"]:
        changed = changes(one["effective_scenario"], other["effective_scenario"])
        found.append(of_scenario(changed))
    return found
