"""`tidegate check`."""

from __future__ import annotations

import typer

from tidegate.cli.options import File, Set, colour, document


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
    forecast.require_memory(scenario)
    warnings = {scenario.name: scenario.warnings}
    spans, seeds = axes.written(asked, colour=colour())
    for span in [*axes.variants(asked), *spans]:
        for point, here in plan.each_value(asked, span, colour=colour()):
            forecast.require_memory(here)
            warnings[point.label] = here.warnings
    flows = forecast.flows(scenario)
    total = f"about {sum(flows.values()):,.0f} flows in {scenario.duration_s:g} s"
    typer.echo(f"{scenario.name}: can be run, {total}.")
    if scenario.people:
        counts = ", ".join(f"{name} {flows[name]:,.0f}" for name in scenario.people)
        typer.echo(f"people, about so many in each class: {counts}; tidegate show prints them")
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
