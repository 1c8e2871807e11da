"""Is the advice of `tidegate advise` right? Links whose truth is known, measured, read and advised.

    python -m tools.validate.advised             # all links, with the controls: minutes
    python -m tools.validate.advised --fit-only  # what files say of the link alone: seconds
    python -m tools.validate.advised --real      # emulated links between real hosts, as root

A row for each link: the rates and the delay under load that follow from its files, beside the
truth; the control that is recommended on the link that fits, beside that on the true one by many
seeds; and how often the same is recommended on the true link with other seeds of these.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidegate.advise.facts import DOWN, UP
from tidegate.advise.fit import ASSUMED, MANAGED, Estimate, Given, Link, Way, fit
from tidegate.advise.people import people
from tidegate.advise.readers import Interfaces, facts_of
from tidegate.advise.scene import NOW, Times, text
from tidegate.advise.verdict import attempts, judged, settled, verdict
from tidegate.grid.execute import execute
from tidegate.grid.executor import Executor
from tidegate.grid.grid_result import GridResult
from tidegate.grid.plan import Controls, comparison
from tidegate.scenario import toml
from tidegate.scenario.document import read
from tidegate.show import advice
from tidegate.show.advice import compared
from tools.validate import link_tests
from tools.validate.link_tests import Truth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.advise.verdict import LinkAdvice
    from tidegate.scenario.document import Setting
    from tools.validate.link_tests import Seen

RATE, DELAY = 0.10, 0.25
"""How far from the truth an estimate may be."""
PORTS = ("link1", "link1.reverse")
LENGTH = Times(40.0, 12.0)
TRUE_SEEDS = 80
"""How many seeds say what is right on the true link (chosen): where a gain or a loss is near the
least that is noticed, twenty need not show it."""

RIGHT, AS_GOOD, SECOND, TRADE, WRONG = "right", "as good", "second", "a trade", "wrong"
"""How good advice is on the true link: what is right there; as good as that; not so good, and
better than the link as it is; better for some and worse for others; or worse."""


@dataclass(frozen=True)
class Case:
    """A link, the files that somebody has of it, and the people."""

    name: str
    truth: Truth
    files: tuple[str, ...]
    who: str
    told: bool = True
    """Whether the files bear the rates; if not, there must be none."""
    delay: bool = True
    """Whether they bear the delay under load of each direction."""


def drop(down: float, up: float, rtt_ms: float, down_ms: float, up_ms: float) -> Truth:
    """Return a link by Mbit/s and ms, with plain queues."""
    return Truth(down * 1e6, up * 1e6, rtt_ms / 1e3, down_ms / 1e3, up_ms / 1e3)


PLAIN, FAIR = {"law": "drop-tail"}, {"law": "fq-codel"}
CASES = (
    Case("dsl", drop(16, 1, 30, 300, 800), ("flent",), "cafe:20"),
    Case("cable", drop(100, 10, 15, 150, 400), ("network-quality",), "hotel:120"),
    Case("fibre", drop(120, 120, 8, 30, 30), ("flent",), "office:200"),
    Case("ship", replace(drop(20, 5, 600, 300, 300), load_s=45), ("flent",), "ship:60"),
    Case("lte", drop(30, 8, 50, 700, 700), ("crusader",), "cafe:60"),
    Case("hotel", drop(100, 20, 25, 200, 200), ("flent",), "hotel:200"),
    Case("school", drop(100, 25, 12, 100, 100), ("crusader",), "school:200"),
    Case("village", drop(10, 2, 12, 1000, 1000), ("goresponsiveness",), "village:20"),
    Case("cafe", drop(50, 10, 20, 60, 120), ("flent",), "cafe:90"),
    Case("office", drop(150, 50, 5, 40, 80), ("crusader",), "office:200"),
    Case("small-buffers", drop(40, 10, 30, 30, 30), ("flent",), "hotel:60"),
    Case("lossy", Truth(40e6, 10e6, 0.03, 0.15, 0.15, loss=0.001), ("flent", "ping"), "hotel:60"),
    Case("at-once", drop(60, 12, 20, 150, 150), ("flent-both",), "hotel:90", delay=False),
    Case("autorate", drop(60, 12, 30, 200, 200), ("autorate",), "village:90"),
    Case(
        "shaped",
        drop(50, 10, 20, 200, 200),
        ("tc", "ping"),
        "hotel:80",
        delay=False,
    ),
    Case(
        "managed",
        Truth(30e6, 6e6, 0.03, 0.3, 0.3, law=FAIR),
        ("flent",),
        "hotel:60",
    ),
    Case(
        "window",
        Truth(200e6, 50e6, 0.04, 0.1, 0.1, flows=1, window=45),
        ("flent",),
        "hotel:60",
        told=False,
    ),
    Case("ping-alone", drop(100, 20, 25, 200, 200), ("ping",), "hotel:60", told=False),
    Case("irtt-alone", drop(100, 20, 25, 200, 200), ("irtt",), "hotel:60", told=False),
    Case("ss-alone", drop(100, 20, 25, 200, 200), ("ss",), "hotel:60", told=False),
)


def measured(case: Case, seed: int) -> dict[str, bytes]:
    """Return the files of a link."""
    truth = case.truth
    if "flent-both" in case.files:
        return {"rrul.flent.gz": link_tests.flent(link_tests.test(truth, seed, DOWN, UP))}
    down = link_tests.test(truth, seed, DOWN)
    up = link_tests.test(truth, seed + 1, UP)
    writers: Mapping[str, Callable[[Seen, Seen], Mapping[str, bytes]]] = {
        "flent": lambda one, two: {
            "download.flent.gz": link_tests.flent(one),
            "upload.flent.gz": link_tests.flent(two),
        },
        "network-quality": lambda one, two: {"mac.json": link_tests.network_quality(one, two)},
        "goresponsiveness": lambda one, two: {"go.txt": link_tests.goresponsiveness(one, two)},
        "crusader": lambda one, two: {"crusader.json": link_tests.crusader(one, two)},
        "autorate": lambda one, two: {"autorate.log": link_tests.autorate(one, two, truth)},
        "ping": lambda one, _: {"ping.txt": link_tests.ping(one)},
        "irtt": lambda one, _: {"irtt.json": link_tests.irtt(one)},
        "ss": lambda _, two: {"ss.txt": link_tests.ss(two, truth)},
        "tc": lambda _one, _two: {"tc.txt": link_tests.tc(truth, 0.95)},
    }
    return {name: data for kind in case.files for name, data in writers[kind](down, up).items()}


def fitted(case: Case, seed: int) -> Link:
    """Return the link that follows from the files."""
    files = measured(case, seed)
    facts = [fact for name, data in files.items() for fact in facts_of(data, name, Interfaces())]
    return fit(facts, Given())


def true_link(truth: Truth, shaper: str = "") -> Link:
    """Return the link as it is, with the law that shapes it already."""

    def way(bps: float, queue_s: float) -> Way:
        loss = exact(truth.loss) if truth.loss else None
        return Way(exact(bps), exact(queue_s), loss, shaper)

    down, up = way(truth.down_bps, truth.down_s), way(truth.up_bps, truth.up_s)
    return Link(down, up, exact(truth.rtt_s))


def exact(value: float) -> Estimate:
    """Return a value without doubt."""
    return Estimate(value, value, value, "given")


def off(found: float | None, true: float) -> float | None:
    """Return by how much of the truth something is off."""
    return None if found is None else found / true - 1


def delay_off(link: Link, truth: Truth, way: str, wait_s: float, seed: int) -> float | None:
    """Return by how much the delay under load is off; None: it is assumed, or left open."""
    queue = link.way(way).queue_s
    if queue is None or queue.origin == ASSUMED or queue.low == 0.0 < queue.value:
        return None
    true = truth.rtt_s + wait_s
    if truth.law != PLAIN:
        # no buffer is full behind such a law: another test says what is true
        loaded = sorted(link_tests.test(truth, seed + 100, way).loaded)
        true = loaded[int(0.95 * len(loaded))]
    return off(link.loaded_s(way), true)


@dataclass(frozen=True)
class Row:
    """A link and what was found of it."""

    case: Case
    link: Link
    rates: tuple[float | None, float | None]
    delays: tuple[float | None, float | None]
    control: str = ""
    true_control: str = ""
    true_text: str = ""
    """What is recommended on the true link, in words, with what it rests on."""
    outcome: str = ""
    """How good what is recommended is on the true link."""
    again: tuple[str, ...] = ()
    """How good what other seeds recommend there is."""

    @property
    def good(self) -> bool:
        """Whether everything is within its bound, or rightly not told."""
        if not self.case.told:
            return self.rates == (None, None)
        near = all(each is not None and abs(each) <= RATE for each in self.rates)
        soon = all(
            abs(each) <= DELAY if each is not None else not self.case.delay for each in self.delays
        )
        return near and soon and self.outcome in ("", RIGHT, AS_GOOD)


def held(case: Case, link: Link, seed: int) -> Row:
    """Hold a link that was fitted against the truth."""
    truth = case.truth
    full = ((DOWN, truth.down_bps, truth.down_s), (UP, truth.up_bps, truth.up_s))
    known = [(link.way(way).rate, bps) for way, bps, _ in full]
    rates = [off(rate.value if rate else None, bps) for rate, bps in known]
    delays = [delay_off(link, truth, way, wait, seed) for way, _, wait in full]
    return Row(case, link, (rates[0], rates[1]), (delays[0], delays[1]))


def row(case: Case, seed: int, *, controls: bool) -> Row:
    """Measure a link, read its files, and compare with the truth."""
    found, truth = held(case, fitted(case, seed), seed), case.truth
    if not (controls and found.link.complete):
        return found
    law = [(f"port.{toml.key(name)}.queue", toml.inline(truth.law)) for name in PORTS]
    if any(each.startswith(MANAGED) for each in found.link.unknown):
        return replace(found, control="left open")
    shaper = "cake" if "tc" in case.files else ""
    mine = looked(lambda seeds: simulated(found.link, case.who, seeds))
    true = simulated(true_link(truth, shaper), case.who, TRUE_SEEDS, law)
    others = [with_other_seeds(true, first) for first in range(0, TRUE_SEEDS, attempts(None)[-1])]
    return replace(
        found,
        control=_named(mine),
        true_control=_named(true),
        true_text=true.text,
        outcome=outcome(mine, true),
        again=tuple(outcome(each, true) for each in others),
    )


def outcome(mine: LinkAdvice, true: LinkAdvice) -> str:
    """Tell how good what is recommended is on the true link."""
    if mine.first in true.taken or mine.first == true.first:
        return RIGHT
    one, other = [each for each in true.settings if each.name in (mine.first, true.first)]
    if not any([*compared(one, other, users, paired=True)] for users in true.users):
        return AS_GOOD
    better = _better(true, mine.first, true.first)
    if not better:
        return TRADE
    if mine.first in better:
        return AS_GOOD
    return SECOND if _better(true, mine.first, NOW) == {mine.first} else WRONG


def _better(true: LinkAdvice, *names: str) -> set[str]:
    """Return which of two controls are recommended on the true link, if these were all."""
    both = [each for each in true.settings if each.name in names]
    return {each.name for each in advice.advise(both, true.users, paired=True).taken}


def looked(at: Callable[[int], LinkAdvice]) -> LinkAdvice:
    """Return what is recommended by as many seeds as it takes."""
    now: LinkAdvice | None = None
    for seeds in attempts(None):
        before, now = now, at(seeds)
        if settled(before, now):
            break
    assert now is not None
    return now


def with_other_seeds(found: LinkAdvice, first: int) -> LinkAdvice:
    """Return what `advise` would recommend by other seeds of the same runs."""

    def at(seeds: int) -> LinkAdvice:
        runs = slice(first, first + seeds)
        settings = [replace(each, runs=dict([*each.runs.items()][runs])) for each in found.settings]
        return judged(settings, found.users)

    return looked(at)


def _named(found: LinkAdvice) -> str:
    return " or ".join(found.taken) or "none"


def simulated(link: Link, who: str, seeds: int, law: Sequence[Setting] = ()) -> LinkAdvice:
    """Return what is recommended on a link."""
    document = read(text(link, people(who), LENGTH)).having(*law)
    planned = comparison(document, Controls(), seeds=seeds)
    with Executor() as executor:
        return verdict(execute(planned, GridResult, None, executor), link.trip_s)


REAL = ((20.0, 4.0, 30.0, 200.0), (8.0, 1.5, 15.0, 400.0), (12.0, 12.0, 60.0, 60.0))
"""Emulated links that real hosts fill: Mbit/s down and up, ms of round trip and of the buffers."""


def real(figures: tuple[float, float, float, float]) -> Row:
    """Measure an emulated link between real hosts, in a kernel with a clock of its own."""
    from tidegate.hosts import own_clock
    from tools.kernels import ROOT
    from tools.own_clock import RESULT

    shutil.rmtree(RESULT, ignore_errors=True)
    RESULT.mkdir(parents=True)
    words = [sys.executable, "-m", "tools.live.measured_link", *(f"{each:g}" for each in figures)]
    code, printed = own_clock.run(own_clock.kernel(print), words, 3600, RESULT, ROOT)
    if code:
        raise SystemExit(printed)
    down, up, rtt_ms, buffer_ms = figures
    truth = drop(down, up, rtt_ms, buffer_ms, buffer_ms)
    case = Case(f"real-{down:g}-{up:g}", truth, ("flent",), "cafe:20")
    facts = [
        fact
        for name, data in json.loads(printed).items()
        for fact in facts_of(json.dumps(data).encode(), name, Interfaces())
    ]
    return held(case, fit(facts, Given()), 0)


def line(found: Row) -> str:
    """Return a row of the table."""
    said = [f"{found.case.name:<14}", f"{' '.join(found.case.files):<18}"]
    for each in (*found.rates, *found.delays):
        said.append("   not told" if each is None else f"{100 * each:+10.1f}%")
    said.append(f"{found.control:>18} {found.true_control:>18} {found.outcome:>8}")
    said += [f"{count} {name}" for name, count in Counter(found.again).items()]
    return " ".join([*said, "ok" if found.good else "OFF"])


HEAD = (
    f"{'link':<14} {'files':<18} {'rate down':>11} {'rate up':>10} {'delay down':>11}"
    f" {'delay up':>10} {'recommended':>18} {'on the true link':>18} {'is':>8} by other seeds"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.validate.advised", description=__doc__)
    parser.add_argument("--fit-only", action="store_true")
    parser.add_argument("--case", action="append")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--why", action="store_true", help="print what is right, with its figures")
    asked = parser.parse_args(arguments)
    print(HEAD)
    rows = []
    for each in REAL if asked.real else CASES:
        if isinstance(each, tuple):
            rows.append(real(each))
        elif not asked.case or each.name in asked.case:
            rows.append(row(each, asked.seed, controls=not asked.fit_only))
        else:
            continue
        print(line(rows[-1]), flush=True)
        if asked.why and rows[-1].true_text:
            print(rows[-1].true_text, flush=True)
    good = sum(each.good for each in rows)
    print(f"{good} of {len(rows)} are within {RATE:.0%} of the rate and {DELAY:.0%} of the delay,")
    print("with right advice or as good, or are not told where the files do not bear it.")
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
