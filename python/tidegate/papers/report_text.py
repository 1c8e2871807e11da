"""The text of a report: the template of a paper, and what it can call.

A paper's `report.md.j2` has the blocks `summary` and `sections`, and may have `beyond`, which
becomes a page of its own: what the paper does not show. It sees the
functions of `Text`, what the paper's `report_text.py` lists in `TEMPLATE_NAMES` (functions
whose first parameter is `runs` are bound to the runs of the report), and `runs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from inspect import isfunction, signature
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jinja2 import Environment

    from tidegate.papers.runs import Runs
    from tidegate.papers.study import PaperStudy, PaperTable
    from tidegate.papers.verdicts import ClaimResult

    Write: TypeAlias = "Callable[[Section, Callable[[], str] | None], str]"
    """Returns a section in Markdown; the second argument gives its own text, which reads runs."""

TEMPLATE = "report.md.j2"


@dataclass(frozen=True)
class Section:
    """A section of a report; claims are patterns, pictures names, each separated by blanks."""

    title: str
    claims: str = ""
    pictures: str = ""
    tables: Sequence[PaperTable] = ()


def number(value: float) -> str:
    """Return three significant digits, all digits of what is a thousand or more."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"
    return f"{value:.3g}"


def measured(result: ClaimResult) -> str:
    """Return what was measured, with its standard deviation or interval."""
    value = result.measured
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if result.one_run:
        many = len(result.values) > 1
        return f"{number(value)} ({'every run the same' if many else 'one run'})"
    if result.claim.kind == "ordering" or result.spread is None:
        if result.low is None or result.high is None:
            return number(value)
        return f"{number(value)} [{number(result.low)}, {number(result.high)}]"
    return f"{number(value)} ± {number(result.spread)}"


def in_paper(result: ClaimResult) -> str:
    """Return what the paper has for a claim: a number, or its own words."""
    if isinstance(result.paper, float | int):
        return number(float(result.paper))
    return str(result.paper or result.claim.value)


def named(*functions: Callable[..., object], **values: object) -> dict[str, object]:
    """Return what a template can use: functions by their names, and values by given ones."""
    return {each.__name__: each for each in functions} | values


def good(result: ClaimResult) -> bool:
    """Tell whether a claim is met with the guesses as they were taken."""
    return result.holds


def environment() -> Environment:
    """Return the settings under which all templates are read: an unknown name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("tidegate.papers", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["extract"] = lambda key, mapping: mapping[key]
    made.filters["apply"] = lambda value, function: function(value)
    made.tests["starts_with"] = str.startswith
    return made


@dataclass(frozen=True)
class Text:
    """What the template of a paper can call; claims go by their ids without the key."""

    study: PaperStudy
    results: Sequence[ClaimResult]
    runs: Runs
    write: Write = lambda _, __: ""
    by_name: dict[str, ClaimResult] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.by_name.update({each.claim.short: each for each in self.results})

    def block(self, name: str) -> str:
        """Return a block of the template of the paper; empty if it has none of this name."""
        source = (self.study.folder / TEMPLATE).read_text(encoding="utf-8")
        read = environment()
        names = {**_bound(self.study.names, self.runs), **self._functions()}
        read.tests.update({key: each for key, each in names.items() if callable(each)})
        template = read.from_string(source)
        if name not in template.blocks:
            return ""
        context = template.new_context({**names, "runs": self.runs})
        return "".join(template.blocks[name](context)).strip()

    def _functions(self) -> dict[str, Callable[..., object]]:
        own: list[Callable[..., object]] = [number, good, self.section, self.asked, self.known]
        own += [self.value, self.paper, self.said, self.holds, self.claims, self.mean]
        return {each.__name__: each for each in own}

    def section(
        self,
        title: str,
        claims: str = "",
        pictures: str = "",
        tables: Sequence[PaperTable] = (),
        caller: Callable[[], str] | None = None,
    ) -> str:
        """Return a section; what a `call` block encloses is its text."""
        return self.write(Section(title, claims, pictures, tables), caller)

    def asked(self, *names: str) -> bool:
        """Tell whether all of these claims were judged."""
        return all(name in self.by_name for name in names)

    def known(self, *names: str) -> bool:
        """Tell whether a number was measured for all of these claims."""
        return self.asked(*names) and all(
            isinstance(self.by_name[name].measured, float) for name in names
        )

    def value(self, name: str, scale: float = 1.0) -> str:
        """Return what was measured for a claim."""
        value = self.by_name[name].measured
        assert isinstance(value, float)
        return number(scale * value)

    def paper(self, name: str) -> str:
        """Return the number, or the range, that the paper gives for a claim."""
        claim = self.by_name[name].claim
        if isinstance(claim.expected, tuple):
            return " to ".join(number(each) for each in claim.expected)
        return claim.value if claim.expected is None else number(claim.expected)

    def said(self, name: str) -> str:
        """Return what a row has as the paper's, whether it was judged or not."""
        return self.study.claim(name).value

    def holds(self, *names: str) -> bool:
        """Tell whether all of these claims were judged and hold."""
        return all(name in self.by_name and good(self.by_name[name]) for name in names)

    def claims(self, *names: str) -> list[ClaimResult]:
        """Return the results of these claims; without names, of all but the set-up."""
        if names:
            return [self.by_name[name] for name in names]
        return [each for each in self.results if not each.is_setup]

    def mean(self, case: str, measure: str, scale: float = 1.0) -> str:
        """Return a measure of a case, the mean over the seeds for which it is defined.

        `measure` is an expression, as in `claims.csv`.
        """
        value = scale * float(np.nanmean(self.runs.evaluated(case, measure)))
        return number(value) if np.isfinite(value) else "not all"


def _bound(names: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    def takes_runs(each: object) -> bool:
        return isfunction(each) and next(iter(signature(each).parameters), "") == "runs"

    return {name: partial(each, runs) if takes_runs(each) else each for name, each in names.items()}
