"""A whole search: what is asked for, the rounds, the finds, and the files of them."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.attack import finds
from tidegate.attack.search import search
from tidegate.attack.space import space
from tidegate.attack.trials import Trials, others
from tidegate.certify import controls
from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.attack.finds import Find
    from tidegate.attack.objective import Objective
    from tidegate.attack.search import WorstWorld
    from tidegate.attack.space import Space
    from tidegate.certify.controls import Control
    from tidegate.papers.folder import CaseFolder


LONGEST = 100
"""Letters of the name of a suite of finds; what is longer ends with a hash."""
PLAIN = re.compile(r"[A-Za-z0-9.:=-]+")
"""Words that such a name tells apart; with others it ends with a hash too."""


@dataclass(frozen=True)
class Request:
    """Which control is attacked, for what, in which worlds."""

    control: Control
    worlds: Space
    objective: Objective
    against: tuple[Control, ...]
    parts: tuple[str, ...]
    held: Mapping[str, float]
    """Genes of the base that are held at one number."""
    seed: int
    gate: bool

    @classmethod
    def of(
        cls,
        control: str | None,
        gate: str | None,
        objective: str | None = None,
        against: Sequence[str] = (),
        parts: Sequence[str] = (),
        held: Sequence[str] = (),
        seed: int = 1,
        of: str | None = None,
    ) -> Request:
        """Read what was asked for, in the worlds `of`; raises UsageError for unknown names."""
        if (control is None) == (gate is None):
            raise UsageError("Which control?", "Name one: tidegate attack cubic, or --gate tide.")
        worlds = worlds_of(of, gate=gate is not None)
        mine = controls.find(str(control)) if gate is None else controls.stage("gate", gate)
        wanted = objective or next(iter(worlds.objectives))
        if wanted not in worlds.objectives:
            known = ", ".join(worlds.objectives)
            raise UsageError(f"There is no objective {wanted}.", f"Objectives: {known}.")
        aim = worlds.objectives[wanted]
        worlds.allowed(aim, parts)
        if gate is not None:
            theirs = tuple(controls.stage("gate", each) for each in against)
        else:
            theirs = tuple(map(controls.find, against or worlds.standard))
        fixed = dict(map(_held, held))
        worlds = worlds.holding(fixed)
        return cls(mine, worlds, aim, theirs, tuple(parts), fixed, seed, gate is not None)

    @property
    def name(self) -> str:
        """The name of its suite of finds, another one for each search that finds others."""
        more = self._options
        if self.seed != 1:
            more = [*more, f"seed-{self.seed}"]
        found = "-".join([self.control.key, self.objective.name, *map(_plain, more)])
        if len(found) <= LONGEST and all(map(PLAIN.fullmatch, more)):
            return found
        digest = hashlib.blake2b(self.command.encode(), digest_size=4).hexdigest()
        return f"{found[:LONGEST]}-{digest}"

    @property
    def command(self) -> str:
        """The command that asks for this, without the number of runs."""
        words = ["tidegate", "attack", *(["--gate"] if self.gate else []), self.control.name]
        words += ["--for", self.objective.name, *self._options, "--seed", str(self.seed)]
        return shlex.join(words)

    @property
    def _options(self) -> list[str]:
        """The options of the command that say which worlds, and beside what."""
        first = self.worlds.name == worlds_for(gate=self.gate)[0]
        words = [] if first else ["--worlds", self.worlds.name]
        words += [word for each in self.parts for word in ("--part", each)]
        words += [
            word for name, value in self.held.items() for word in ("--hold", f"{name}={value:.12g}")
        ]
        if tuple(each.name for each in self.against) != self.default:
            words += [word for each in self.against for word in ("--against", each.name)]
        return words

    @property
    def default(self) -> tuple[str, ...]:
        """The names of what it is compared with unless others are named."""
        return () if self.gate else self.worlds.standard


def worlds_for(*, gate: bool) -> tuple[str, ...]:
    """Return the files of worlds for a gate, or for a sender control, the default first."""
    return ("access", "users") if gate else ("path",)


def worlds_of(name: str | None, *, gate: bool) -> Space:
    """Read a file of worlds by its name; raises UsageError for another name."""
    known = worlds_for(gate=gate)
    if name is not None and name not in known:
        what = "a gate" if gate else "a sender control"
        raise UsageError(f"There are no worlds {name} for {what}.", f"Worlds: {', '.join(known)}.")
    return space(name or known[0])


def _plain(word: str) -> str:
    """Return a word of a command as a part of the name of a file."""
    return "".join(each if each.isalnum() else "-" for each in word).strip("-")


def _held(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise UsageError(
            f"Could not understand --hold {text}.", "Write GENE=NUMBER, as in --hold delay=10."
        ) from None


@dataclass(frozen=True)
class Outcome:
    """What a search found, and how many runs it took."""

    rounds: tuple[WorstWorld, ...]
    finds: tuple[Find, ...]
    searched: int
    """Runs of the search."""
    shrunk: int
    """Runs of the shrinking."""


def trials_of(request: Request, folder: CaseFolder) -> Trials:
    """Return the trials of what was asked for, whose runs are kept in a folder."""
    compared = others(request.worlds, request.against, gate=request.gate)
    return Trials(request.worlds, request.objective, request.control, compared, folder)


def limits_worse(score: float) -> str:
    """Return a score in words; what rounds to nothing has no sign."""
    return f"{score:z.1f} limits worse"


def perform(
    request: Request,
    folder: CaseFolder,
    more: Callable[[int], bool],
    wanted: int,
    tell: Callable[[str], None],
) -> Outcome:
    """Search as long as there may be `more` after so many runs; shrink and save the finds."""
    trials = trials_of(request, folder)
    rounds = []
    for each in search(
        request.worlds,
        request.objective,
        trials.scores,
        request.seed,
        lambda: more(trials.runs),
        request.parts,
    ):
        rounds.append(each)
        parts = ", ".join(each.world.parts) or "no part"
        tell(f"round {each.round}, {trials.runs} runs: {limits_worse(each.score)} ({parts})")
    if not trials.runs:
        if trials.tried:
            raise trials.nowhere(0)
        return Outcome((), (), 0, 0)  # no time: what an earlier search found stays
    spent = trials.runs
    kept = []
    for find in finds.shrunk(trials, rounds, wanted, request.parts):
        kept.append(find)
        parts = ", ".join(find.small.parts) or "no part"
        tell(f"{find.name}: {limits_worse(find.score)} ({parts})")
    save(request, trials, kept)
    return Outcome(tuple(rounds), tuple(kept), spent, trials.runs - spent)


def save(request: Request, trials: Trials, kept: Sequence[Find]) -> None:
    """Write a suite of the finds, and a scenario for each, in place of what the same search left.

    Files of other names stay.
    """
    folder, name = trials.folder, request.name
    earlier = re.compile(rf"{re.escape(request.objective.name)}-\d+\.toml")
    for path in (folder.target / name).glob("*.toml"):
        if earlier.fullmatch(path.name):
            folder.remove(path)
    if not kept:
        folder.remove(folder.target / f"{name}.toml")
        return
    standard = tuple(each.name for each in request.against) or request.worlds.standard
    title = f"Worst worlds for {request.control.name}: {request.objective.name}"
    for find in kept:
        text = finds.scenario(trials, find, request.command)
        folder.write(f"{name}/{find.name}.toml", text.encode())
    folder.write(f"{name}.toml", finds.suite(trials, kept, title, standard).encode())
