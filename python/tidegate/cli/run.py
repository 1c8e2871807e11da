"""`tidegate run`."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.console import Json, forecast, print_json, say, stderr, stdout
from tidegate.cli.options import (
    DryRun,
    File,
    LawFile,
    Set,
    Terminal,
    colour,
    default_folder,
    document,
    together,
    warn,
)

if TYPE_CHECKING:
    from tidegate._native import Scenario
    from tidegate.results.simulate import PortCapture
    from tidegate.results.store import Store

Seed = Annotated[int, typer.Option(min=0, max=(1 << 64) - 1, help="Seed of all random draws.")]
Pcap = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Write what a port sends to PORT.pcap, for Wireshark."),
]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Run with the changes of \\[variant.NAME] in the file."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for results; default out/SCENARIO-run, suffixed if taken by another run.",
    ),
]


def run(
    file: File,
    seed: Seed = 1,
    pcap: Pcap = None,
    variant: Variant = None,
    settings: Set = None,
    law: LawFile = None,
    out: Out = None,
    terminal: Terminal = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run a scenario once: a summary table, and the data in a folder."""
    from tidegate.cli import progress
    from tidegate.grid.plan import law_digests
    from tidegate.results.forecast import require_memory
    from tidegate.results.run_files import write_single_run
    from tidegate.results.simulate import simulate
    from tidegate.results.store import Store
    from tidegate.scenario.overrides import chosen_variants
    from tidegate.scenario.own import laws
    from tidegate.show import hints
    from tidegate.show.forecast import of_run
    from tidegate.show.tables import of_run as table_of

    together(terminal, as_json)
    asked, own = document(file, settings), laws(law)
    for cell in chosen_variants(asked, [variant]) if variant else ():
        asked = asked.having(*cell.settings)
    contents = asked.contents(colour=colour())
    scenario = asked.load(colour=colour(), files=contents)
    asked.format(colour=colour())
    warn(scenario.warnings)
    if dry_run:
        forecast(of_run(scenario, seed, own), as_json)
        return
    require_memory(scenario)
    about = _about(scenario, seed, contents) | {"laws": law_digests(own)}
    folder = out or default_folder(scenario.name, "run")
    same = functools.partial(_same, about, set() if pcap is None else {_file(pcap)})
    with Store(folder, replaces=same, numbered=out is None) as store:
        with progress.bar(stderr(), scenario.name, 1, scenario.duration_s) as meter:
            capture = None if pcap is None else _capture(pcap, scenario, store)
            tick = functools.partial(meter.report, 0)
            outcome = simulate(scenario, seed, own, tick=tick, capture=capture)
        more = {name: about[name] for name in ("inputs", "laws")}
        done = write_single_run(store, outcome, more)
        place = store.commit()
    if as_json:
        print_json(done.summary)
    else:
        stdout().print(table_of(done.summary, outcome.access))
        if terminal:
            _draw(place)
    say(f"Data and summary: {place}")
    say(hints.after_run(scenario, str(file)))


def _draw(place: Path) -> None:
    from tidegate.show.terminal import of_run

    stdout().print(of_run(place))


def _about(scenario: Scenario, seed: int, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return the entries of a manifest that identify a run."""
    from tidegate.results.provenance import digest, provenance

    opening = provenance("run", scenario.show())
    return {
        **{name: opening[name] for name in ("command", "code_hash", "scenario_hash")},
        "seed": seed,
        "inputs": {name: digest(content) for name, content in contents.items()},
    }


def _same(about: dict[str, Any], captures: set[str], manifest: dict[str, Any]) -> bool:
    """Tell whether a folder holds the same run, so that replacing it loses nothing."""
    there = {name for name in manifest.get("files", []) if name.endswith(".pcap")}
    return there <= captures and all(manifest.get(name) == value for name, value in about.items())


def _file(port: str) -> str:
    """Return the name of the file for what a port sends."""
    return (re.sub(r"[^A-Za-z0-9._-]+", "-", port).strip(".") or "port") + ".pcap"


def _capture(port: str, scenario: Scenario, store: Store) -> PortCapture:
    """Return a capture of a port, into a file called after it in the folder of results."""
    from tidegate.results.simulate import PortCapture
    from tidegate.scenario.overrides import require_port

    require_port(port, scenario)
    return PortCapture(port, functools.partial(store.append, _file(port)))
