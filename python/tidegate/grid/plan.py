"""The plan of a comparison or a sweep, checked as a whole before its first run starts."""

from __future__ import annotations

import inspect
import pickle
import re
import sys
import tomllib
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from tidegate import _native
from tidegate.arguments import names, seed, several, text
from tidegate.errors import UsageError
from tidegate.grid import axes as grid
from tidegate.results.forecast import require_memory
from tidegate.results.provenance import digest
from tidegate.results.store import folder_name
from tidegate.scenario.overrides import STAGES, asked_ports, default_port, refuse_lost, split
from tidegate.scenario.own import maker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tidegate.grid.axes import Axis
    from tidegate.results.laws import OwnLaw
    from tidegate.scenario.document import Document
    from tidegate.scenario.overrides import Variant

Job: TypeAlias = tuple[int, int]
"""One run: the number of its point, and its seed."""

SEEDS = 10
MOST_SEEDS = 100_000


@dataclass(frozen=True)
class Point:
    """One setting of all axes, and the digests of what produces its results."""

    says: dict[str, str]
    scenario_hash: str
    inputs: dict[str, str]

    @property
    def folder(self) -> str:
        """Its folder among the runs: readable, and unlike any other's."""
        several = repr(sorted(self.says.items())) if len(self.says) > 1 else ""
        return folder_name(self.label, several)

    @property
    def label(self) -> str:
        """What it is called."""
        return grid.named(self.says)


@dataclass(frozen=True)
class Subject:
    """The description of a grid, as its manifest holds it."""

    command: str
    name: str
    warmup_s: float
    duration_s: float
    classes: tuple[str, ...]
    ports: tuple[str, ...]
    port: str | None
    axes: dict[str, tuple[str, ...]]
    points: tuple[Point, ...]
    seeds: tuple[int, ...]
    laws: dict[str, str] = field(default_factory=dict)
    shard: tuple[int, int] | None = None
    controlled: tuple[str, ...] = ()
    """The ports at which controls are compared."""

    @property
    def jobs(self) -> list[Job]:
        """Every (point, seed) of the whole or of its shard, all points of one seed together.

        The points of each seed are turned by one, so that no shard gets the
        costly points of every seed; shards differ by one run at most.
        """
        count = len(self.points)
        everything = [
            ((index + turn) % count, seed)
            for turn, seed in enumerate(self.seeds)
            for index in range(count)
        ]
        if self.shard is None:
            return everything
        number, shards = self.shard
        return everything[number - 1 :: shards]

    def document(self) -> dict[str, Any]:
        """Return what a manifest holds of it."""
        return {
            "scenario": self.name,
            "warmup_s": self.warmup_s,
            "duration_s": self.duration_s,
            "classes": list(self.classes),
            "ports": list(self.ports),
            "port": self.port,
            "controlled": list(self.controlled),
            "axes": [{"key": key, "values": list(values)} for key, values in self.axes.items()],
            "points": [
                {
                    "settings": point.says,
                    "scenario_hash": point.scenario_hash,
                    "inputs": point.inputs,
                }
                for point in self.points
            ],
            "seeds": list(self.seeds),
            "laws": self.laws,
            "shard": None if self.shard is None else list(self.shard),
        }

    @staticmethod
    def of(manifest: Mapping[str, Any]) -> Subject:
        """Read it from a manifest; KeyError, TypeError or ValueError: it is none."""
        shard = manifest["shard"]
        return Subject(
            command=manifest["command"],
            name=manifest["scenario"],
            warmup_s=manifest["warmup_s"],
            duration_s=manifest["duration_s"],
            classes=tuple(manifest["classes"]),
            ports=tuple(manifest["ports"]),
            port=manifest["port"],
            axes={each["key"]: tuple(each["values"]) for each in manifest["axes"]},
            points=tuple(
                Point(each["settings"], each["scenario_hash"], each["inputs"])
                for each in manifest["points"]
            ),
            seeds=tuple(manifest["seeds"]),
            laws=dict(manifest["laws"]),
            shard=None if shard is None else (int(shard[0]), int(shard[1])),
            controlled=tuple(manifest.get("controlled", ())),
        )

    def whole(self) -> Subject:
        """Return the sweep that a shard is a part of."""
        return replace(self, shard=None)


@dataclass(frozen=True)
class Plan:
    """A grid that can be run."""

    subject: Subject
    scenarios: tuple[_native.Scenario, ...]
    effective: str
    documents: tuple[Document, ...]

    def files(self, point: int) -> dict[str, bytes]:
        """Return the content of the files that a point's scenario refers to."""
        return self.documents[point].contents()

    @property
    def warnings(self) -> list[str]:
        """What may make the results misleading, with the settings that it is about."""
        pairs = zip(self.subject.points, self.scenarios, strict=True)
        found = grid.warnings_by_setting({point.label: each.warnings for point, each in pairs})
        if self.subject.shard is not None and not self.subject.jobs:
            number, shards = self.subject.shard
            runs = len(self.subject.whole().jobs)
            there, parts = ("is", "part") if runs == 1 else ("are", "parts")
            found.append(
                f"part {number} of {shards} has no run, as there {there} {runs} in all: take at"
                f" most {runs} {parts}"
            )
        return found

    def simulated_s(self, jobs: Sequence[Job]) -> float:
        """Return the simulated time of these runs together."""
        return sum(self.scenarios[point].duration_s for point, _ in jobs)


@dataclass(frozen=True)
class Controls:
    """Laws that are compared at a port, by stage; as text as on the command line."""

    gate: Sequence[str | dict[str, Any]] | str | None = None
    queue: Sequence[str | dict[str, Any]] | str | None = None
    port: str | Sequence[str] | None = None
    """The port, several in a list or with commas between them, or `both`: the bottleneck in both
    directions."""

    def axes(self, document: Document, at: Sequence[str], own: Collection[str]) -> list[Axis]:
        """Return an axis for each stage that was named; `own` are the caller's laws, by name."""
        asked = {stage: getattr(self, stage) for stage in STAGES}
        return [
            grid.laws(stage, _laws(stage, laws), at, document, own)
            for stage, laws in asked.items()
            if laws is not None
        ]


def _laws(stage: str, given: object) -> list[Any]:
    example = grid.NAMES[stage].split(",")[1]
    return split(given) if isinstance(given, str) else several(given, f"{stage}s", example)


def comparison(
    document: Document,
    controls: Controls,
    *,
    axes: Sequence[Axis] = (),
    seeds: int | Sequence[int] = 5,
    laws: Mapping[str, OwnLaw] | None = None,
    colour: bool = False,
) -> Plan:
    """Check every column of a comparison: controls, values of keys, or variants."""
    stages = [stage for stage in STAGES if getattr(controls, stage) is not None]
    if stages and axes:
        raise UsageError(
            f"Both --{stages[0]} and --vary were given.",
            "Compare along one of them; tidegate sweep takes both.",
        )
    if not stages and not axes:
        axes = grid.variants(document)
    if not stages and not axes:
        raise UsageError(
            "Nothing to compare was given.",
            "Give --gate LIST, --queue LIST, --vary KEY=a,b, or [variant.NAME] tables in the file.",
        )
    wanted = controls if stages else replace(controls, gate=None, queue=None)
    return _plan("compare", document, axes, wanted, seeds, laws, None, colour)


def sweep(
    document: Document,
    controls: Controls,
    *,
    axes: Sequence[Axis] = (),
    variants: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    laws: Mapping[str, OwnLaw] | None = None,
    shard: tuple[int, int] | None = None,
    colour: bool = False,
) -> Plan:
    """Check every point of a sweep; axes in the call replace the document's.

    `variants` names those that are one more axis; `all` is every one.
    """
    document.load(colour=colour)
    in_document, own_seeds = grid.written(document, colour=colour)
    if isinstance(variants, str):
        variants = split(variants)
    chosen = None if variants is None else names(variants, "variants", "all")
    spans = [*(grid.variants(document, chosen) if chosen is not None else ()), *axes]
    if not spans and all(getattr(controls, stage) is None for stage in STAGES):
        spans = in_document
    number = (own_seeds or SEEDS) if seeds is None else seeds
    return _plan("sweep", document, spans, controls, number, laws, shard, colour)


def _plan(
    command: str,
    document: Document,
    axes: Sequence[Axis],
    controls: Controls,
    seeds: int | Sequence[int],
    laws: Mapping[str, OwnLaw] | None,
    shard: tuple[int, int] | None,
    colour: bool,
) -> Plan:
    """Check every point; ScenarioError for one that makes no scenario, and UsageError."""
    base = document.load(colour=colour)
    named = asked_ports(controls.port, base)
    about = named[0] if named else _port_or_none(base)
    stages = any(getattr(controls, stage) is not None for stage in STAGES)
    own = laws.keys() if laws is not None and hasattr(laws, "keys") else ()
    at = named or ([about or default_port(base)] if stages else [])
    asked = controls.axes(document, at, own) if stages else ()
    spans = [*asked, *axes]
    points = grid.cells(spans)
    refuse_lost(document.settings, chain.from_iterable(cell.settings for cell in points))
    loaded = [_load(document, cell, colour) for cell in points]
    _refuse_twice(spans, [point for point, _ in loaded])
    for _, scenario in loaded:
        require_memory(scenario)
        require_laws(scenario, laws)
        require_built_in(scenario)
    subject = Subject(
        command=command,
        name=base.name,
        warmup_s=base.warmup_s,
        duration_s=base.duration_s,
        classes=tuple(base.classes),
        ports=tuple(name for name, _ in base.ports),
        port=about,
        axes={axis.key: axis.values for axis in spans},
        points=tuple(point for point, _ in loaded),
        seeds=_seeds(seeds),
        laws=law_digests(laws),
        shard=shard,
        controlled=tuple(at),
    )
    documents = tuple(document.having(*cell.settings) for cell in points)
    return Plan(subject, tuple(scenario for _, scenario in loaded), base.show(), documents)


def _refuse_twice(axes: Sequence[Axis], points: Sequence[Point]) -> None:
    """Refuse two values of an axis that are the same in other words, as 50/s and 0.05/ms.

    They are if they make the same scenario whatever the other axes say.
    """
    for axis in axes:
        made: dict[str, dict[tuple[str, ...], object]] = {value: {} for value in axis.values}
        for point in points:
            rest = tuple(value for key, value in point.says.items() if key != axis.key)
            made[point.says[axis.key]][rest] = (point.scenario_hash, sorted(point.inputs.items()))
        first: dict[str, str] = {}
        for value, scenarios in made.items():
            other = first.setdefault(repr(scenarios), value)
            if other != value:
                raise UsageError(
                    f"The axis {axis.key} has {other} and {value}, which make the same scenario.",
                    "Name each value once.",
                )


def _load(document: Document, cell: Variant, colour: bool) -> tuple[Point, _native.Scenario]:
    here = document.having(*cell.settings)
    try:
        files = here.contents(colour=colour)
        scenario = here.load(colour=colour, files=files)
    except _native.ScenarioError as error:
        # it has no place in the document: the document alone can be run
        told = str(error).rstrip().replace("--> --set", f"--> {cell.label}")
        raise _native.ScenarioError(f"{told}\nThat is the setting {cell.label}.") from None
    inputs = {name: digest(content) for name, content in files.items()}
    return Point(cell.says, digest(scenario.show().encode()), inputs), scenario


def require_laws(scenario: _native.Scenario, laws: Mapping[str, OwnLaw] | None) -> None:
    """Raise ScenarioError if the scenario names a law of the user's own that was not given."""
    if laws is not None and not hasattr(laws, "keys"):
        raise UsageError(
            f"Laws of your own have names, and {laws!r} has none.",
            'Give laws={"mine": ...}, with the name that the scenario has for it.',
        )
    text = scenario.show()
    if '"python"' not in text:
        return
    for name in _wanted(tomllib.loads(text)):
        if name not in (laws or {}):
            raise _native.ScenarioError(
                f"the scenario names `{name}`, a law of your own, and no such law was handed"
                f" in\ngive it: --law FILE.py:{name} on the command line,"
                f' laws={{"{name}": ...}} in Python'
            )


FOREIGN = ("quic", "crate")
"""Transports that need code of other projects, which not every build has."""


def require_built_in(scenario: _native.Scenario) -> None:
    """Raise ScenarioError if the scenario needs code of other projects that is not built in.

    Only making the simulation tells which stacks and controls there are. With a law of the user's
    own, which is not handed in here, it cannot be made.
    """
    text = scenario.show()
    traffic = tomllib.loads(text).get("traffic", {}).values()
    transports = [each.get("transport", {}) for each in traffic]
    foreign = any(name in transport for transport in transports for name in FOREIGN)
    if foreign and '"python"' not in text:
        _native.Simulation(scenario, 1)


def _wanted(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the laws of the user's own in an effective scenario."""
    for port in document.get("port", {}).values():
        stages = [port.get(stage, {}) for stage in ("gate", "stamp", "filter", "queue")]
        for law in (*stages, stages[-1].get("over", {})):
            if law.get("law") == "python":
                yield law["name"]
    for traffic in document.get("traffic", {}).values():
        transport = traffic.get("transport", {})
        if isinstance(transport, dict) and "python" in transport:
            yield transport["python"]["name"]


def each_value(
    document: Document, axis: Axis, *, colour: bool = False
) -> Iterator[tuple[Point, _native.Scenario]]:
    """Check the document with each value of an axis, the rest as it stands there."""
    for cell in grid.cells([axis]):
        yield _load(document, cell, colour)


def _seeds(asked: int | Sequence[int]) -> tuple[int, ...]:
    remedy = f"Give how many (1 to {MOST_SEEDS}), or which, as [1, 2, 3]."
    if isinstance(asked, bool):
        raise UsageError(f"{asked!r} is no number of seeds, and no list of them.", remedy)
    if isinstance(asked, int) and asked > MOST_SEEDS:
        raise UsageError(f"{asked} seeds are more than {MOST_SEEDS}.", remedy)
    if isinstance(asked, int) and asked < 1:
        raise UsageError(f"{asked} is no number of seeds.", remedy)
    if isinstance(asked, str) or not (isinstance(asked, int) or hasattr(asked, "__iter__")):
        raise UsageError(f"{asked!r} is no number of seeds, and no list of them.", remedy)
    listed = range(1, asked + 1) if isinstance(asked, int) else asked
    numbers = tuple(seed(each) for each in listed)
    if not numbers or len(set(numbers)) < len(numbers):
        raise UsageError("Seeds have to be one or more different numbers.", remedy)
    return numbers


def _port_or_none(scenario: _native.Scenario) -> str | None:
    try:
        return default_port(scenario)
    except UsageError:
        return None


def law_digests(laws: Mapping[str, OwnLaw] | None) -> dict[str, str]:
    """Return what a manifest says of laws of the user's own."""
    return {name: _law_digest(law) for name, law in (laws or {}).items()}


def _law_digest(law: OwnLaw) -> str:
    """Return a digest of a law's source and of its state before the run."""
    parts = []
    made = maker(law)
    module = sys.modules.get(made.__module__)
    for what in (module, made):
        try:
            parts.append(inspect.getsource(what).encode() if what is not None else b"")
        except (OSError, TypeError):
            parts.append(b"")
    try:
        parts.append(pickle.dumps(law, protocol=4))
    except (pickle.PicklingError, AttributeError, TypeError):
        parts.append(b"")
    return digest(b"\0".join(parts))


def shard_of(part: str) -> tuple[int, int]:
    """Read `i/N`."""
    found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text(part, "shard", "2/8"))
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(
            f"Could not understand --shard {part}.",
            "Write i/N with i from 1 to N, as in --shard 2/8.",
        )
    return int(found[1]), int(found[2])
