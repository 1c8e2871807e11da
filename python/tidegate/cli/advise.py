"""`tidegate advise`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.console import (
    Json,
    Workers,
    flag,
    place,
    print_json,
    say,
    stdout,
    text,
    where,
)
from tidegate.cli.options import colour, warn

if TYPE_CHECKING:
    from tidegate.advise.fit import Given, Link
    from tidegate.advise.many import HowMany
    from tidegate.advise.people import People
    from tidegate.advise.router import Commands, Router
    from tidegate.advise.verdict import LinkAdvice

Files = Annotated[
    list[Path] | None,
    where(
        "FILE",
        "What you have of the link: tc -s qdisc, ping, ss -ti, networkQuality -c, goresponsiveness,"
        " Flent, Crusader, cake-autorate, irtt, a capture.",
    ),
]


def advise(
    files: Files = None,
    down: Annotated[str | None, text("RATE", "Rate towards the people, as in 100Mbit.")] = None,
    up: Annotated[str | None, text("RATE", "Rate away from them, as in 20Mbit.")] = None,
    rtt: Annotated[
        str | None, text("TIME", "Round trip without load to where people go, as in 25ms.")
    ] = None,
    buffer: Annotated[
        str | None,
        text("TIME", "How much the round trip grows while the link is full, as in 200ms."),
    ] = None,
    people: Annotated[
        str | None,
        text("PLACE:N", "Who uses the link: hotel, school, cafe, village, ship or office."),
    ] = None,
    how_many: Annotated[
        bool, flag("Search for the largest number of people within the limits.", "--how-many")
    ] = False,
    outside: Annotated[str, text("NAME", "The router's interface towards the provider.")] = "wan0",
    inside: Annotated[str, text("NAME", "The router's interface towards the people.")] = "lan0",
    ifb: Annotated[
        bool,
        flag("Control downloads at an ifb interface, as with several inner interfaces.", "--ifb"),
    ] = False,
    control: Annotated[
        str | None,
        text("NAME", "Print the commands of this one: fq_codel, cake, tide or cake+tide."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Number of seeds: 1, 2, ...; default 5 and 10, and 20 unless both of these"
            " recommend the same control.",
        ),
    ] = None,
    workers: Workers = None,
    out: Annotated[
        Path | None,
        place("DIR", "Folder for scenario, runs, page and commands; default out/PLACE-N-advise."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which control a link needs, and what to type on its router.

    From rates and a round trip, or from files of measurements, follow the link
    that fits, what people feel on it now and under each control, a
    recommendation and the commands. What a file does not bear is said. It
    simulates for up to four minutes, and saves the scenario and its runs.
    """
    from rich.text import Text

    from tidegate.advise import readers, shown
    from tidegate.advise.fit import fit
    from tidegate.advise.people import people as read_people
    from tidegate.advise.router import Router

    router = Router(outside, inside, ifb)
    given = _given(down, up, rtt, buffer)
    who = read_people(people) if people is not None else None
    _asked(files, given, who, control, how_many=how_many)
    names = readers.Interfaces(outside, inside)
    facts = [fact for path in files or [] for fact in readers.read(path, names)]
    link = fit(facts, given)
    told: dict[str, Any] = {
        "facts": [fact.document() for fact in facts],
        "link": link.document(),
    }
    if not as_json:
        stdout().print(shown.of_link(link))
    answer = Answer()
    if who is not None and link.complete:
        answer = _judged(link, who, seeds, workers, out)
        told |= {"people": str(who), **answer.judged.document()}
        if not as_json:
            title = f"What people feel: {who.place}, {who.counted} (mean, 95 %)"
            stdout().print(shown.of_people(answer.judged, title))
            stdout().print(Text(answer.judged.text))
            if beyond := answer.judged.beyond():
                more = "" if how_many else " How many people fit: add --how-many."
                under = f"Beyond a limit under {answer.judged.first}"
                stdout().print(Text(f"{under}: {'; '.join(beyond)}.{more}"))
        if how_many:
            answer.many = _many(link, who, answer, seeds, workers)
            told["how_many"] = [each.document() for each in answer.many]
    _finish(link, answer, told, router, control, as_json=as_json)


MADE = "Made by tidegate advise. Run it again: tidegate compare FILE --seeds {}"
SCENARIO = "scenario.toml"


@dataclass
class Answer:
    """What was simulated, and where it is."""

    verdict: LinkAdvice | None = None
    folder: Path | None = None
    seeds: int = 0
    """How many seeds it rests on."""
    many: list[HowMany] = field(default_factory=list)

    @property
    def judged(self) -> LinkAdvice:
        """What people feel under each control, where it was simulated."""
        assert self.verdict is not None
        return self.verdict


def _given(down: str | None, up: str | None, rtt: str | None, buffer: str | None) -> Given:
    from tidegate.advise.fit import Given
    from tidegate.advise.units import rate, round_trip, seconds

    return Given(
        rate("--down", down),
        rate("--up", up),
        round_trip("--rtt", rtt),
        seconds("--buffer", buffer),
    )


def _asked(
    files: list[Path] | None,
    given: Given,
    who: People | None,
    control: str | None,
    *,
    how_many: bool,
) -> None:
    """Refuse what cannot be answered."""
    from tidegate.advise.scene import CONTROLS
    from tidegate.errors import UsageError

    if not files and given.down_bps is None and given.up_bps is None:
        raise UsageError(
            "Nothing is known of the link.",
            "Give --down 100Mbit --up 20Mbit --rtt 25ms, or files of measurements.",
        )
    if how_many and who is None:
        raise UsageError("--how-many needs people.", "Give --people hotel:300.")
    if control is not None and control not in CONTROLS:
        raise UsageError(
            f"There is no control {control} here.", f"Choose one of {', '.join(CONTROLS[1:])}."
        )


def _judged(
    link: Link, who: People, asked: int | None, workers: int | None, out: Path | None
) -> Answer:
    """Run all controls, and save the scenario, the runs and their page."""
    from tidegate.advise.scene import CAKE, controls, times
    from tidegate.advise.scene import text as scenario_text
    from tidegate.advise.verdict import attempts, settled, verdict
    from tidegate.cli.grids import comparing, fill
    from tidegate.grid.plan import Controls, comparison
    from tidegate.scenario.document import read

    length = times(link)
    if CAKE not in controls(link):
        say("CAKE shapes both directions already: `now` is CAKE.")
    answer = Answer(folder=out)
    for seeds in attempts(asked):
        before = answer.verdict
        if before is not None:
            found = f"{before.first} helps" if before.helps else "no control helps"
            say(f"With {answer.seeds} seeds {found}: {seeds} tell whether that holds.")
        written = scenario_text(link, who, length, made_by=MADE.format(seeds))
        planned = comparison(read(written), Controls(), seeds=seeds, colour=colour())
        if before is None:
            warn(planned.warnings)
        say(
            f"Simulating {len(planned.subject.jobs)} runs of {length.duration_s:g} s: {seeds} seeds"
            " of each control."
        )
        name = f"{who.place} {who.number}"
        with comparing(answer.folder, name, "advise", planned) as folder:
            folder.write(SCENARIO, written.encode())
            done = fill(folder, workers, None)
            answer = Answer(verdict(done, link.trip_s), folder.target, seeds)
        if settled(before, answer.judged):
            break
    return answer


def _many(
    link: Link, who: People, answer: Answer, asked: int | None, workers: int | None
) -> list[HowMany]:
    """Search under the present state and the controls that may help."""
    from tidegate.advise.many import how_many
    from tidegate.advise.scene import times
    from tidegate.advise.verdict import attempts
    from tidegate.grid.executor import Executor

    numbers = range(1, attempts(asked)[0] + 1)
    found = []
    with Executor(workers) as executor:
        for control in answer.judged.searched:
            found.append(how_many(link, who, control, numbers, times(link), executor, say))
    return found


def _without_people(link: Link) -> str:
    if link.complete:
        return "What people feel: add who they are, as in --people hotel:300."
    return "The controls are not compared: the link is not known well enough, see above."


def _finish(
    link: Link,
    answer: Answer,
    told: dict[str, Any],
    router: Router,
    control: str | None,
    *,
    as_json: bool,
) -> None:
    """Print what to type and what cannot be told, and save it."""
    from tidegate.advise import shown
    from tidegate.advise.router import commands
    from tidegate.advise.scene import CAKE

    there = answer.verdict is not None
    typed = commands(link, control or (answer.judged.first if there else CAKE), router)
    told["router"] = typed.document()
    if as_json:
        print_json(told)
    else:
        stdout().print(
            shown.screen(
                shown.of_many(answer.many) if answer.many else None,
                shown.of_commands(typed) if typed.lines or typed.gate else None,
                shown.of_unknown(link),
            )
        )
    if router.ifb and not typed.leads_through(router.down):
        said = "the gate needs none" if typed.gate else "no line here is about downloads"
        say(f"tidegate: --ifb has no effect: {said}.")
    if answer.folder is None:
        say(_without_people(link))
    else:
        _saved(answer.folder, typed, answer.seeds)


def _saved(folder: Path, typed: Commands, seeds: int) -> None:
    """Save the commands and a page beside the runs."""
    import shlex

    from tidegate.grid.load import load
    from tidegate.results.store import display, write_whole
    from tidegate.show.next_command import program
    from tidegate.show.page import page

    runs = load(folder)
    files = {"report.html": page([runs])}
    if typed.lines:
        files["router.sh"] = "".join(f"{line}\n" for line in typed.lines).encode()
    if typed.gate:
        files["gate.toml"] = typed.gate.encode()
    for name, content in files.items():
        write_whole(folder / name, content)
    runs.wrote(list(files))
    shown = display(folder)
    say(f"Saved in {shown}: {SCENARIO}, the runs, {', '.join(files)}")
    again = shlex.quote(f"{shown}/{SCENARIO}")
    say(f"Run it again, or changed: {program()} compare {again} --seeds {seeds}")
