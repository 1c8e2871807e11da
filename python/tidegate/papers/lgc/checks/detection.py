"""The checks of the detection (3.1.1, 5.4): what the law decides about a queue."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tidegate import _native
from tidegate.papers.check_results import Exact
from tidegate.papers.lgc.checks.setup import EXAMPLE
from tidegate.papers.lgc.measures import found, highest_average, triggers
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Parts, Runs

PRINTED = (1, 2, 3, 5, 7, 10, 20, 50)
"""Numbers of connections for which Figure 2 is worked out in the claim."""
EXPERIMENT_1 = (21, 4, 5, 3, 2, 2, 2)
"""What the connections of experiment 1 held, as the paper has it."""
BLIND = (15,) * 5 + (5,) * 5
"""The blind spot of 5.4: a queue of 100."""


def queue(packets: int, connections: int) -> list[int]:
    """Return a queue of these numbers of packets and connections, as even as possible."""
    return [
        packets * (place + 1) // connections - packets * place // connections
        for place in range(connections)
    ]


def _share(held: list[int]) -> int:
    return _native.lgc_look(held)[0]


def disparity(connections: int) -> float:
    """Return k, from eq. d: qo = 100 k / n."""
    return _native.lgc_permissible_percent(connections) * connections / 100


@claim("example.f", of=())
def fair_share(_: Runs) -> Exact:
    """Check the fair share of the worked example, from eq. d and k: f = p/n."""
    packets, connections = EXAMPLE
    permitted = _native.lgc_permissible_percent(connections) * packets / 100
    return Exact(f"{permitted / disparity(connections):g}")


@claim("example.k", of=())
def permitted_disparity(_: Runs) -> Exact:
    """Check k of the worked example."""
    return Exact(f"{disparity(EXAMPLE[1]):.5f}", within=5e-4)


@claim("example.r", of=())
def responsive_share(_: Runs) -> Exact:
    """Check what a responsive connection of the worked example may hold."""
    return Exact(f"{_share(queue(*EXAMPLE))}")


@claim("example.share", of=())
def responsive_percent(_: Runs) -> Exact:
    """Check the same in percent of the queue, which the paper cuts after two digits."""
    return Exact(f"{100 * _share(queue(*EXAMPLE)) / EXAMPLE[0]:.3f}", within=0.01)


@claim("fig2.eq", of=())
def curve(_: Runs) -> Exact:
    """Check Figure 2 at the numbers of connections that are worked out."""
    said = (f"{n} {_native.lgc_permissible_percent(n):.2f}" for n in PRINTED)
    return Exact(f"n={'; '.join(said)}", _as_worked_out())


def _as_worked_out() -> bool:
    """Tell whether eq. d agrees with a manual calculation, to 0.01 %."""
    by_hand = (109.86, 89.59, 73.24, 54.16, 43.49, 34.01, 20.47, 10.02)
    values = (_native.lgc_permissible_percent(n) for n in PRINTED)
    return all(abs(value - hand) <= 0.0101 for value, hand in zip(values, by_hand, strict=True))


@claim("fig2.shape", of=())
def shape(_: Runs) -> Exact:
    """Check that Figure 2 falls, steeply at first: each step is smaller than the one before."""
    curve = [_native.lgc_permissible_percent(n) for n in range(1, 101)]
    steps = [former - later for former, later in pairwise(curve)]
    falls = all(step > 0 for step in steps)
    flatter = all(former > later for former, later in pairwise(steps))
    return Exact(
        f"falls by {steps[0]:.1f} from 1 to 2, by {steps[-1]:.2f} from 99 to 100",
        falls and flatter,
    )


@claim("fig2.n1", of=())
def alone(_: Runs) -> Exact:
    """Check that a connection alone is never greedy, whatever it holds."""
    greedy = [packets for packets in range(1, 1001) if _native.lgc_look([packets])[1] is not None]
    return Exact(
        "never greedy, 1 to 1000 packets" if not greedy else f"greedy with {greedy[0]}", not greedy
    )


@claim("shortcoming.qo", of=())
def permitted(_: Runs) -> Exact:
    """Check the permissible share among ten."""
    return Exact(f"{_native.lgc_permissible_percent(len(BLIND)):.3f}", within=5e-3)


@claim("shortcoming.miss", of=("five",))
def blind_spot(runs: Runs) -> Parts:
    """Check that five greedy flows alike go unseen: by the law, and in a congested network."""
    unseen = _native.lgc_look(list(BLIND))[1] is None
    records = runs.records("five")
    return {
        "15 % each of five, 5 % each of five: nobody is greedy": [
            1.0 if unseen else -1.0 for _ in records
        ],
        "simulated: the node is congested, the average goes above 35": [
            highest_average(each) - 35.0 for each in records
        ],
        "LGC looks": [triggers(each) for each in records],
        "and finds nobody": [0.5 - len(found(each)) for each in records],
    }


EVEN = (6, 5, 5, 5, 4)
"""Responsive connections, one with a packet more than its fair share of 5."""


@claim("text.k_small", of=())
def small_factor(_: Runs) -> Exact:
    """Check that with k = 1 a responsive connection would be judged greedy, with k = ln 3n not."""
    fair = sum(EVEN) / len(EVEN)
    greedy, found = max(EVEN) > fair, _native.lgc_look(list(EVEN))[1]
    text = f"{max(EVEN)} of {sum(EVEN)}: above k f = {fair:g}, not above {_share(list(EVEN))}"
    return Exact(text, greedy and found is None)


@claim("text.k_large", of=())
def large_factor(_: Runs) -> Exact:
    """Check that with k = n nobody can be judged greedy, and that k = ln 3n finds connection 1."""
    packets = sum(EXPERIMENT_1)
    found = _native.lgc_look(list(EXPERIMENT_1))[1]
    text = f"{max(EXPERIMENT_1)} of {packets}: k f = {packets} with k = n"
    return Exact(text, max(EXPERIMENT_1) <= packets and found == 0)


@claim("exp1.n", of=())
def connections(_: Runs) -> Exact:
    """Check the connections in the queue as the paper lists it."""
    return Exact(f"{len(EXPERIMENT_1)}")


@claim("exp1.f", of=())
def fair(_: Runs) -> Exact:
    """Check the fair share of that queue."""
    n = len(EXPERIMENT_1)
    percent = _native.lgc_permissible_percent(n)
    return Exact(f"{percent * sum(EXPERIMENT_1) / 100 / disparity(n):.3f}", within=5e-3)


@claim("exp1.k", of=())
def factor(_: Runs) -> Exact:
    """Check k of that queue."""
    return Exact(f"{disparity(len(EXPERIMENT_1)):.5f}", within=5e-5)


@claim("exp1.r", of=())
def may_hold(_: Runs) -> Exact:
    """Check what a responsive connection may hold, and that connection 1 is the greediest."""
    share, greediest = _native.lgc_look(list(EXPERIMENT_1))
    return Exact(f"{share}", share == 17 and greediest == 0)
