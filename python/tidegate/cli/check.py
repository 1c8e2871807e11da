"""`tidegate check`."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import typer

from tidegate.cli.options import File, Set, colour, document

if TYPE_CHECKING:
    from tidegate._native import Scenario


def check(file: File, settings: Set = None) -> None:
    """Check a scenario with all its variants and axes, and run nothing.

    Ends with code 0 if everything can be run. Settings that may make the
    results misleading are warnings, not errors.
    """
    from tidegate.grid import axes, plan
    from tidegate.results import forecast

    asked = document(file, settings)
    scenario = asked.load(colour=colour())
    asked.format(colour=colour())
    plan.require_built_in(scenario)
    forecast.require_memory(scenario)
    warnings = {scenario.name: scenario.warnings}
    spans, seeds = axes.written(asked, colour=colour())
    for span in [*axes.variants(asked), *spans]:
        for point, here in plan.each_value(asked, span, colour=colour()):
            plan.require_built_in(here)
            forecast.require_memory(here)
            warnings[point.label] = here.warnings
    flows = forecast.flows(scenario)
    total = f"about {sum(flows.values()):,.0f} flows in {scenario.duration_s:g} s"
    typer.echo(f"{scenario.name}: can be run, {total}.")
    if scenario.people:
        typer.echo(_of_people(scenario, flows))
    for line in forecast.round_trips(scenario) + forecast.offered(scenario):
        typer.echo(line)
    for span in axes.variants(asked):
        typer.echo(f"variants: {', '.join(span.values)}")
    for span in spans:
        typer.echo(f"axis {span.key}: {', '.join(span.values)}")
    if seeds is not None:
        typer.echo(f"seeds of a sweep: {seeds}")
    for warning in axes.warnings_by_setting(warnings):
        typer.echo(f"Warning: {warning}.")


def _of_people(scenario: Scenario, flows: dict[str, float]) -> str:
    """Return how many people there are, and how many flows are theirs.

    Who sends two photos a minute starts many flows, so these do not say how many people do it.
    """
    traffic = tomllib.loads(scenario.show())["traffic"]
    there = max(traffic[name]["people"]["of"] for name in scenario.people)
    counts = ", ".join(f"{name} {flows[name]:,.0f}" for name in scenario.people)
    return f"{there} people; their flows, about so many in each class: {counts}"
