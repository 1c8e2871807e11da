"""The command line. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import functools
import re
import signal
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tidegate.console import (
    INTERRUPTED,
    TERMINATED,
    Json,
    Workers,
    guarded,
    print_json,
    say,
    stderr,
    stdout,
)
from tidegate.papers.command import paper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate._native import Scenario
    from tidegate.comparison import Comparison, Plan
    from tidegate.runner import Capture
    from tidegate.scenario import Document
    from tidegate.store import Store
    from tidegate.sweeping import Sweep
    from tidegate.sweeping.ledger import Ledger
    from tidegate.sweeping.plan import Plan as SweepPlan

app = typer.Typer(
    help="A laboratory for congestion control in the network.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A scenario (TOML).")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one key; may be repeated."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for results; default out/SCENARIO-COMMAND, replaced next time.",
    ),
]
Port = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The port that --gate controls; default the bottleneck."),
]


def _document(file: Path, settings: list[str] | None) -> Document:
    from tidegate import scenario

    return scenario.read(file).having(*(scenario.setting(each) for each in settings or []))


def _colour() -> bool:
    return stderr().is_terminal


def _folder(out: Path | None, name: str, command: str) -> Path:
    """Return the folder that was asked for, or one called after the scenario."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "scenario"
    return out if out is not None else Path("out") / f"{slug}-{command}"


def _capture(port: str, scenario: Scenario, store: Store) -> Capture:
    """Return a capture of a port, into a file called after it in the folder of results."""
    from tidegate.runner import Capture
    from tidegate.scenario import require_port

    require_port(port, scenario)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", port).strip(".") or "port"
    return Capture(port, functools.partial(store.append, f"{name}.pcap"))


@app.command()
@guarded
def run(
    file: File,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.")] = 1,
    pcap: Annotated[
        str | None,
        typer.Option(metavar="PORT", help="Write what a port sends to PORT.pcap, for Wireshark."),
    ] = None,
    settings: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run a scenario once: a summary table, and the data in a folder."""
    from tidegate import advice, progress
    from tidegate.results import Result
    from tidegate.runner import simulate
    from tidegate.store import Store, write_run

    scenario = _document(file, settings).load(colour=_colour())
    with Store(_folder(out, scenario.name, "run")) as store:
        with progress.bar(stderr(), scenario.name, 1, scenario.duration_s) as meter:
            capture = None if pcap is None else _capture(pcap, scenario, store)
            tick = functools.partial(meter.report, 0)
            outcome = simulate(scenario, seed, tick=tick, capture=capture)
        result = Result(outcome)
        write_run(store, result)
        place = store.commit()
    if as_json:
        print_json(result.summary)
    else:
        stdout().print(result.table)
    say(f"Data and summary: {place}")
    say(advice.after_run(scenario, str(file)))


@app.command()
@guarded
def show(file: File, settings: Set = None) -> None:
    """Print the effective scenario: everything spelled out, ready to run."""
    typer.echo(_document(file, settings).load(colour=_colour()).show(), nl=False)


@app.command()
@guarded
def compare(
    file: File,
    gate: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Controls, as in none,fixed-rate:100,close-probe."),
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=A,B", help="Values of one key, as in port.bottleneck.gate.beta=0.2,0.5."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds: 1, 2, ...")] = 5,
    port: Port = None,
    settings: Set = None,
    workers: Workers = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run the same traffic under several controls: table with intervals, pictures, data.

    Without --gate and --vary the [variant.NAME] tables of the file are compared.
    """
    from tidegate import advice, scenario
    from tidegate.comparison import finish, plan
    from tidegate.store import Store

    document = _document(file, settings)
    planned = plan(
        document,
        gates=None if gate is None else list(scenario.split(gate)),
        vary=vary,
        seeds=seeds,
        port=port,
        colour=_colour(),
    )
    with Store(_folder(out, planned.base.name, "compare")) as store:
        comparison = _execute(planned, workers, store)
        place = finish(store, comparison)
    if as_json:
        print_json(comparison.document())
    else:
        stdout().print(comparison.table)
    say(f"Data, pictures (PNG, SVG) and summary: {place}")
    say(advice.after(comparison, str(file), document.tables()))


def _execute(planned: Plan, workers: int | None, store: Store) -> Comparison:
    """Run a plan under a progress bar; on Ctrl-C keep what is finished and leave."""
    from tidegate import progress
    from tidegate.comparison import Interrupted, execute, finish

    runs = len(planned.jobs)
    try:
        with progress.bar(stderr(), planned.base.name, runs, planned.total_s) as meter:
            return execute(
                planned,
                workers=workers,
                report=meter.report,
                finished=meter.finished,
                store=store,
            )
    except Interrupted as interrupted:
        done = len(interrupted.comparison.rows)
        if done == 0:
            say("Interrupted before the first run was over; nothing was written.")
        else:
            place = finish(store, interrupted.comparison)
            say(f"Interrupted; {done} of {runs} runs are kept: {place}")
        raise typer.Exit(INTERRUPTED) from None


Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Metrics to show, as named in --json: fct_p99_s,bottleneck.utilisation.",
    ),
]


Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUES", help="One axis: KEY=a,b,c or KEY=lo:hi:step; may be repeated."
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(metavar="I/N", help="Run part I of N, in its own folder; then tidegate merge."),
]
Resumed = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Folder for results, gone on with; default out/SCENARIO-sweep."
    ),
]


@app.command()
@guarded
def sweep(
    file: File,
    vary: Vary = None,
    gate: Annotated[
        str | None, typer.Option(metavar="LIST", help="One more axis: controls, as in compare.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of seeds: 1, 2, ...; default the file's, or 10."),
    ] = None,
    port: Port = None,
    settings: Set = None,
    workers: Workers = None,
    metrics: Metrics = None,
    keep_flows: Annotated[
        bool, typer.Option("--keep-flows", help="Keep flows, ports and events of every run too.")
    ] = False,
    shard: Shard = None,
    mix: Annotated[
        bool,
        typer.Option("--mix", help="Take runs of other code or of another scenario as they are."),
    ] = False,
    out: Resumed = None,
    as_json: Json = False,
) -> None:
    """Run a grid of settings x seeds on all cores: table with intervals, pictures, data.

    Every finished run is kept at once. After Ctrl-C or a crash the same
    command runs only what is missing. Without --vary and --gate the axes are
    those of the table [sweep] of the file.
    """
    from tidegate import scenario
    from tidegate.sweeping import axes
    from tidegate.sweeping.ledger import Ledger
    from tidegate.sweeping.outcome import chosen
    from tidegate.sweeping.plan import plan, shard_of

    planned = plan(
        _document(file, settings),
        axes=[axes.given(each) for each in vary or []],
        gates=None if gate is None else list(scenario.split(gate)),
        seeds=seeds,
        port=port,
        shard=None if shard is None else shard_of(shard),
        colour=_colour(),
    )
    names = chosen(metrics, planned.subject)
    part = "" if planned.subject.shard is None else "-{}-of-{}".format(*planned.subject.shard)
    folder = _folder(out, planned.subject.name, f"sweep{part}")
    with Ledger(folder, planned, keep_flows=keep_flows, mix=mix) as ledger, _kept(ledger):
        _end(ledger, _fill(planned, ledger, workers, names), as_json)


@contextmanager
def _kept(ledger: Ledger) -> Iterator[None]:
    """Say what is kept if a sweep breaks off, and leave quietly on Ctrl-C."""
    from tidegate.store import display

    try:
        yield
    except BaseException as error:
        kept, total = ledger.kept(), len(ledger.plan.subject.jobs)
        if kept:
            place = display(ledger.target)
            say(f"{kept} of {total} runs are kept in {place}; the same command goes on there.")
        if not isinstance(error, KeyboardInterrupt):
            raise
        if not kept:
            say("Interrupted before the first run was over; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None


def _fill(
    planned: SweepPlan, ledger: Ledger, workers: int | None, metrics: tuple[str, ...]
) -> Sweep:
    """Run what is missing under a progress bar."""
    from tidegate import progress
    from tidegate.sweeping import execute

    total, missing = len(planned.subject.jobs), ledger.missing
    if ledger.found:
        say(f"{len(ledger.found)} of {total} runs are there already; {len(missing)} to go.")
    with progress.bar(
        stderr(), planned.subject.name, len(missing), planned.simulated_s(missing)
    ) as meter:
        return execute(
            planned,
            ledger,
            workers=workers,
            metrics=metrics,
            report=meter.report,
            finished=meter.finished,
        )


def _end(ledger: Ledger, done: Sweep, as_json: bool) -> None:
    from tidegate.sweeping import finish

    place = finish(ledger, done)
    if as_json:
        print_json(done.document())
    if done.subject.shard is not None:
        say(f"All {len(done.rows)} runs of this shard are in {place}. When all shards are there:")
        say("tidegate merge DIR... --out DIR")
        return
    if not as_json:
        stdout().print(done.table)
    say(f"Data, pictures (PNG, SVG) and table: {place}")


@app.command()
@guarded
def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of the shards.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the whole sweep.")],
    metrics: Metrics = None,
    mix: Annotated[
        bool, typer.Option("--mix", help="Take parts made by different code as they are.")
    ] = False,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Merge although runs are missing; sweep goes on from there."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Put the shards of a sweep together: the same table as of the whole sweep.

    Refuses parts that do not belong together, that overlap, or that leave gaps.
    """
    from tidegate.store import display
    from tidegate.sweeping.merge import merge as together

    done = together(parts, out, metrics=metrics or (), mix=mix, partial=partial)
    if as_json:
        print_json(done.document())
    else:
        stdout().print(done.table)
    if not done.complete:
        say(f"{len(done.subject.jobs) - len(done.rows)} runs are missing.")
    say(f"Data, pictures (PNG, SVG) and table: {display(out.absolute())}")


app.command()(guarded(paper))


@app.command()
@guarded
def bench(
    flows: Annotated[int, typer.Option(min=1, help="Number of long-lived flows.")] = 100,
    as_json: Json = False,
) -> None:
    """Measure the simulator's speed on its yardstick: packet-hops per CPU second."""
    from tidegate import progress
    from tidegate.bench import DURATION_S, measure

    with progress.bar(stderr(), "yardstick", 1, DURATION_S, threaded=False) as meter:
        figures = measure(flows, tick=functools.partial(meter.report, 0))
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        text = f"{value:,.2f}" if isinstance(value, float) else str(value)
        typer.echo(f"{name:20} {text:>16}")


@app.command()
@guarded
def flows(
    file: Annotated[
        Path, typer.Argument(metavar="CAPTURE", help="A packet capture (pcap or pcapng).")
    ],
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the flows as a table to replay."),
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Number of flows to list.")] = 10,
    as_json: Json = False,
) -> None:
    """List the TCP connections of a packet capture, as a scenario would replay them."""
    from tidegate import advice, progress, replay
    from tidegate.errors import from_os

    size = file.stat().st_size if file.is_file() else 0
    with progress.reading(stderr(), file.name, size) as tick:
        found = replay.flows(file, tick)
    if csv is not None:
        try:
            csv.write_bytes(found.csv)
        except OSError as error:
            raise from_os("write the flows to", csv, error) from error
    if as_json:
        for piece in found.json():
            typer.echo(piece, nl=False)
        typer.echo()
    else:
        stdout().print(found.listed(rows))
    if found.broken is not None:
        say(f"tidegate: {file}: {found.broken}.\nWhat was read up to there is kept.")
    if csv is not None:
        say(f"Flows as a table: {csv}")
    say(advice.after_flows(found, str(csv or file)))


@app.command()
@guarded
def schema() -> None:
    """Print the JSON schema of scenarios, for editors."""
    from tidegate._native import schema as text

    typer.echo(text())


def _version(asked: bool) -> None:
    if asked:
        from tidegate._native import __version__

        typer.echo(f"tidegate {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


class _Stopped(KeyboardInterrupt):
    """Ctrl-C, as a class of its own.

    The interpreter marks a plain KeyboardInterrupt that passes through `exec`
    of a text (as importing a dataclass does) and in the end kills the process
    by the signal, though the exception was handled; it does not mark a subclass.
    """


def _interrupted(_signal: int, _frame: object) -> None:
    raise _Stopped


def _terminated(_signal: int, _frame: object) -> None:
    raise SystemExit(TERMINATED)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of our own like any other message."""
    from tidegate.errors import TidegateWarning

    if issubclass(category, TidegateWarning):
        say(f"tidegate: {message}.")
    else:
        (file or sys.stderr).write(
            warnings.formatwarning(message, category, filename, lineno, line)
        )


def main() -> None:
    """Run the command line."""
    # As an exception, so that temporary folders are removed on the way out.
    signal.signal(signal.SIGTERM, _terminated)
    # Left alone where it is ignored, as under `nohup` or in the background of a shell.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    warnings.showwarning = _warned
    try:
        app()
    except KeyboardInterrupt:
        say("Interrupted; nothing was written.")
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
