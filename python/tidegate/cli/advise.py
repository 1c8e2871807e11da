"""`tidegate advise`."""

from __future__ import annotations

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
from tidegate.cli.options import colour

if TYPE_CHECKING:
    from tidegate.advise.fit import Given, Link
    from tidegate.advise.many import HowMany
    from tidegate.advise.people import People
    from tidegate.advise.router import Router
    from tidegate.advise.verdict import Verdict

Files = Annotated[
    list[Path] | None,
    where(
        "[FILE]...",
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
    seeds: Annotated[int, typer.Option(min=2, help="Number of seeds: 1, 2, ...")] = 5,
    workers: Workers = None,
    out: Annotated[
        Path | None, place("DIR", "Folder for scenario, runs and commands; default out/advise.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which control a link needs, and what to type on its router.

    From rates and a round trip, or from files of measurements, follow the link
    that fits, what people feel on it now and under each control, a
    recommendation and the commands. What a file does not bear is said. It
    simulates for about a minute, and saves the scenario and its runs.
    """
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
    judged = None
    many: list[HowMany] = []
    target = out or Path("out/advise")
    if who is not None and link.complete:
        judged = _judged(link, who, seeds, workers, target)
        told |= {"people": str(who), **judged.document()}
        if not as_json:
            stdout().print(shown.of_people(judged, f"{who.number} people, {who.place}"))
            stdout().print(judged.text, soft_wrap=False)
        if how_many:
            many = _many(link, who, judged, seeds, workers)
            told["how_many"] = [each.document() for each in many]
    _finish(link, judged, many, told, router, control, target, as_json=as_json)


def _given(down: str | None, up: str | None, rtt: str | None, buffer: str | None) -> Given:
    from tidegate.advise.fit import Given
    from tidegate.advise.units import rate, seconds

    return Given(
        rate("--down", down), rate("--up", up), seconds("--rtt", rtt), seconds("--buffer", buffer)
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


def _judged(link: Link, who: People, seeds: int, workers: int | None, target: Path) -> Verdict:
    """Run all controls, and save the scenario and the runs."""
    from tidegate.advise.scene import text as scenario_text
    from tidegate.advise.scene import times
    from tidegate.advise.verdict import verdict
    from tidegate.cli.grids import fill
    from tidegate.grid.grid_folder import opened
    from tidegate.grid.plan import Controls, comparison
    from tidegate.results.store import display, write_whole
    from tidegate.scenario.document import read

    length = times(link)
    made = "Made by tidegate advise. Run it again: tidegate compare FILE"
    written = scenario_text(link, who, length, made_by=made)
    planned = comparison(read(written), Controls(), seeds=seeds, colour=colour())
    runs = len(planned.subject.jobs)
    say(f"Simulating {runs} runs of {length.duration_s:g} s: {seeds} seeds of each control.")
    folder, why = opened(target / "runs", planned)
    if why:
        say(why)
    with folder:
        done = fill(folder, workers, None)
        where_ = display(folder.target)
    file = target / "scenario.toml"
    write_whole(file, written.encode())
    say(f"Scenario: {display(file)}. Its runs: {where_}; as a page: tidegate report {where_}")
    return verdict(done)


def _many(
    link: Link, who: People, judged: Verdict, seeds: int, workers: int | None
) -> list[HowMany]:
    """Search under the present state and under what is recommended."""
    from tidegate.advise.many import how_many
    from tidegate.advise.scene import NOW, times
    from tidegate.grid.executor import Executor

    found = []
    with Executor(workers) as executor:
        for control in dict.fromkeys((NOW, judged.first)):
            numbers = range(1, seeds + 1)
            found.append(how_many(link, who, control, numbers, times(link), executor, say))
    return found


def _without_people(link: Link) -> str:
    if link.complete:
        return "What people feel: add who they are, as in --people hotel:300."
    return "The controls are not compared: the link is not known well enough, see above."


def _finish(
    link: Link,
    judged: Verdict | None,
    many: list[HowMany],
    told: dict[str, Any],
    router: Router,
    control: str | None,
    target: Path,
    *,
    as_json: bool,
) -> None:
    """Print what to type and what cannot be told, and save it."""
    from tidegate.advise import shown
    from tidegate.advise.router import commands
    from tidegate.advise.scene import CAKE, NOW
    from tidegate.results.store import display, write_whole

    chosen = control or (judged.first if judged else CAKE)
    typed = commands(link, chosen, router)
    told["router"] = typed.document()
    if as_json:
        print_json(told)
    else:
        stdout().print(
            shown.screen(
                shown.of_many(many) if many else None,
                shown.of_commands(typed) if typed.lines or typed.gate else None,
                shown.of_unknown(link),
            )
        )
    if judged is None:
        say(_without_people(link))
        return
    if chosen == NOW:
        return
    write_whole(target / "router.sh", "".join(f"{line}\n" for line in typed.lines).encode())
    if typed.gate:
        write_whole(target / "gate.toml", typed.gate.encode())
    say(f"The commands: {display(target / 'router.sh')}")
