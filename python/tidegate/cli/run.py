"""`tidegate run`."""

from __future__ import annotations

import contextlib
import functools
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.console import Json, forecast, place, print_json, say, stderr, stdout, text
from tidegate.cli.options import (
    DryRun,
    Every,
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
from tidegate.results.location import is_remote, plain_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidegate._native import Scenario
    from tidegate.results.simulate import FlowLogs, PortCapture
    from tidegate.results.store import Objects, Store
    from tidegate.scenario.document import Document
    from tidegate.show.next_command import Typed

Seed = Annotated[int, typer.Option(min=0, max=(1 << 64) - 1, help="Seed of all random draws.")]
Pcap = Annotated[str | None, text("PORT", "Write what a port sends to PORT.pcapng, for Wireshark.")]
Variant = Annotated[
    str | None, text("NAME", "Run with the changes of \\[variant.NAME] in the file.")
]
Trace = Annotated[
    list[str] | None,
    text(
        "CLASS:N",
        "Record every acknowledgement of a flow (cwnd, ssthresh, srtt, bytes in flight), and"
        " draw them; web:0 is the first of class web. May be repeated.",
    ),
]
Qlog = Annotated[
    list[str] | None,
    text(
        "CLASS:N",
        "Write what happens to a flow to CLASS-N.sqlog (qlog), and to CLASS-N.qvis.sqlog for qvis;"
        " web:0 is the first of class web. May be repeated.",
    ),
]
Out = Annotated[
    Path | None,
    place("DIR", "Folder for results; default out/SCENARIO-run, suffixed if taken by another run."),
]


def run(
    file: File,
    seed: Seed = 1,
    pcap: Pcap = None,
    trace_flow: Trace = None,
    qlog: Qlog = None,
    variant: Variant = None,
    settings: Set = None,
    law: LawFile = None,
    out: Out = None,
    every: Every = False,
    terminal: Terminal = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run a scenario once: a summary table, and the data in a folder."""
    from tidegate.grid.plan import law_digests
    from tidegate.results import flow_logs
    from tidegate.results.forecast import require_memory
    from tidegate.results.run_files import loses_nothing, write_single_run
    from tidegate.results.simulate import simulate
    from tidegate.scenario.own import laws
    from tidegate.show import progress
    from tidegate.show.forecast import of_run
    from tidegate.show.next_command import Typed
    from tidegate.show.tables import of_run as table_of

    together(terminal, as_json)
    source, own = document(file, settings), laws(law)
    asked = _traced(chosen := _in_variant(source, variant), trace_flow)
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
    followed = flow_logs.asked(qlog or [], scenario)
    grown = _grown(pcap, followed)
    same = functools.partial(loses_nothing, about, grown)
    with _opened(folder, same, grown, numbered=out is None) as store:
        with progress.bar(stderr(), scenario.name, 1, scenario.duration_s) as meter:
            capture, logs = _growing(pcap, followed, scenario, store)
            tick = functools.partial(meter.report, 0)
            outcome = simulate(scenario, seed, own, tick=tick, capture=capture, logs=logs)
        more = {name: about[name] for name in ("inputs", "laws")}
        done = write_single_run(store, outcome, more)
        saved = store.commit()
    if trace_flow:
        _drawn(saved)
    if as_json:
        print_json(done.summary)
    else:
        stdout().print(table_of(done.summary, outcome.access, every=every))
        if terminal:
            _draw(saved)
    _ended(saved, followed, done.summary)
    # a comparison has no --variant: what it changes is set
    changes = [f"{key}={value}" for key, value in chosen.settings[len(source.settings) :]]
    _hinted(scenario, chosen, Typed.of(file, [*(settings or []), *changes], law), done.summary)


def _ended(saved: Path, followed: list[tuple[str, int]], summary: Mapping[str, Any]) -> None:
    """Name the flows that were to be followed, and that never began; say where the data is."""
    began = {each["name"]: each["flows"] for each in summary["classes"]}
    for name, number in followed:
        if number >= (count := began[name]):
            say(f"tidegate: there was no flow {name}:{number}: {count} began, from {name}:0 on.")
    say(f"Data and summary: {saved}")


def _hinted(
    scenario: Scenario, written: Document, typed: Typed, summary: Mapping[str, Any]
) -> None:
    """Say what to try next; where that cannot be told, the run has ended all the same."""
    from tidegate.errors import TidegateError
    from tidegate.show import hints

    used = {port["name"]: port["utilisation"] for port in summary["ports"]}
    with contextlib.suppress(TidegateError):
        say(hints.after_run(scenario, written, typed, used))


def _opened(
    folder: Path, same: Callable[[dict[str, Any]], bool], grown: set[str], *, numbered: bool
) -> Store | Objects:
    """Open a folder of this machine or of an object store for the files of the run."""
    from tidegate.errors import UsageError
    from tidegate.results.store import opened

    if is_remote(folder) and grown:
        raise UsageError(
            "A capture or a log grows while the run goes on, which an object store cannot do.",
            "Leave out --pcap and --qlog, or name a folder of this machine with --out.",
        )
    return opened(folder, replaces=same, numbered=numbered)


def _in_variant(asked: Document, variant: str | None) -> Document:
    """Return the scenario in a variant."""
    from tidegate.scenario.overrides import chosen_variants, refuse_lost

    for cell in chosen_variants(asked, [variant]) if variant else ():
        refuse_lost(asked.settings, cell.settings)
        asked = asked.having(*cell.settings)
    return asked


def _traced(asked: Document, traced: list[str] | None) -> Document:
    """Return the scenario with flows to trace, beside those that the file names."""
    from tidegate.scenario import toml

    if not traced:
        return asked
    known = tomllib.loads(asked.load(colour=colour()).show()).get("series", {}).get("acks", [])
    return asked.having(("series.acks", toml.inline(list(dict.fromkeys([*known, *traced])))))


def _drawn(saved: Path) -> None:
    """Draw what a run follows, in its folder."""
    from tidegate.grid.load import load
    from tidegate.show import finished
    from tidegate.show.pictures import of_series

    found = load(saved)
    drawn = of_series(found.folder, found.run.summary)
    found.wrote([path.name for path in finished.saved(drawn, found.folder)])


def _draw(saved: Path) -> None:
    from tidegate.show.terminal import of_run

    stdout().print(of_run(saved))


def _about(scenario: Scenario, seed: int, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return the entries of a manifest that identify a run."""
    from tidegate.results.provenance import digest
    from tidegate.results.run_files import about_run

    return {
        **about_run(scenario.show(), seed),
        "inputs": {name: digest(content) for name, content in contents.items()},
    }


def _grown(pcap: str | None, followed: list[tuple[str, int]]) -> set[str]:
    """Return the names of the files that grow while the run goes on."""
    from tidegate.results import flow_logs

    captured = {_file(pcap)} if pcap is not None else set()
    return captured | {name for flow in followed for name in flow_logs.names(*flow)}


def _growing(
    pcap: str | None, followed: list[tuple[str, int]], scenario: Scenario, store: Store | Objects
) -> tuple[PortCapture | None, FlowLogs | None]:
    """Return what writes those files; none into an object store."""
    from tidegate.results import flow_logs
    from tidegate.results.store import Store

    if not isinstance(store, Store):
        return None, None
    capture = _capture(pcap, scenario, store) if pcap is not None else None
    return capture, flow_logs.into(store, followed) if followed else None


def _file(port: str) -> str:
    """Return the name of the file for what a port sends."""
    return f"{plain_name(port, 'port')}.pcapng"


def _capture(port: str, scenario: Scenario, store: Store) -> PortCapture:
    """Return a capture of a port, into a file called after it in the folder of results."""
    from tidegate.results.simulate import PortCapture
    from tidegate.scenario.overrides import require_port

    require_port(port, scenario)
    return PortCapture(port, functools.partial(store.append, _file(port)))
