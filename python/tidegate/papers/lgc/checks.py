"""What no row of `claims.csv` can say: the law by hand, and what happens in which order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidegate import _native
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount
from tidegate.papers.lgc import measures as m
from tidegate.papers.lgc.cases import EXPERIMENTS

if TYPE_CHECKING:
    from tidegate.papers.runs import Parts, Runs
    from tidegate.results.run_files import SavedRun

UDP_PAYLOAD = 472
"""Bytes of data that a packet of 500 B carries."""
PACKETS, CONNECTIONS = 75, 5
"""The queue of the worked example, and the connections in it."""
PRINTED = (1, 2, 3, 5, 7, 10, 20, 50)
"""Numbers of connections for which Figure 2 is worked out in the claim."""
EXPERIMENT_1 = (21, 4, 5, 3, 2, 2, 2)
"""What the connections of experiment 1 held, as the paper has it."""
BLIND = (15,) * 5 + (5,) * 5
"""The blind spot of 5.4: a queue of 100."""


def permissible(connections: int) -> float:
    """Return the share of a queue that one of so many connections may hold, in percent."""
    return _native.lgc_permissible_percent(connections)


def may_hold(packets: int, connections: int) -> int:
    """Return what a responsive connection may hold of a queue that is as even as possible."""
    return _share(
        [
            packets * (place + 1) // connections - packets * place // connections
            for place in range(connections)
        ]
    )


def fair(packets: int, connections: int) -> float:
    """Return the fair share, from eq. d and k: f = p/n."""
    return permissible(connections) * packets / 100 / disparity(connections)


def _share(held: list[int]) -> int:
    return _native.lgc_look(held)[0]


def disparity(connections: int) -> float:
    """Return k, from eq. d: qo = 100 k / n."""
    return permissible(connections) * connections / 100


def hop_delay(packets: int, rate: float) -> float:
    """Return the delay one way of a link between two filters, from what the upper one lets by.

    While the request goes up, and what is under way comes down, the source sends on.
    """
    return packets / (2.0 * rate)


def curve(_: Runs) -> Exact:
    """Check Figure 2 at the numbers of connections that are worked out."""
    said = (f"{n} {permissible(n):.2f}" for n in PRINTED)
    return Exact(f"n={'; '.join(said)}", _as_worked_out())


def _as_worked_out() -> bool:
    """Tell whether eq. d agrees with a manual calculation, to 0.01 %."""
    by_hand = (109.86, 89.59, 73.24, 54.16, 43.49, 34.01, 20.47, 10.02)
    values = (permissible(n) for n in PRINTED)
    return all(abs(value - hand) <= 0.0101 for value, hand in zip(values, by_hand, strict=True))


def shape(_: Runs) -> Exact:
    """Check that Figure 2 falls, steeply at first: each step is smaller than the one before."""
    curve = [permissible(n) for n in range(1, 101)]
    steps = [former - later for former, later in pairwise(curve)]
    falls = all(step > 0 for step in steps)
    flatter = all(former > later for former, later in pairwise(steps))
    return Exact(
        f"falls by {steps[0]:.1f} from 1 to 2, by {steps[-1]:.2f} from 99 to 100",
        falls and flatter,
    )


def alone(_: Runs) -> Exact:
    """Check that a connection alone is never greedy, whatever it holds."""
    greedy = [packets for packets in range(1, 1001) if _native.lgc_look([packets])[1] is not None]
    return Exact(
        "never greedy, 1 to 1000 packets" if not greedy else f"greedy with {greedy[0]}", not greedy
    )


def blind_spot(runs: Runs) -> Parts:
    """Check that five greedy flows alike go unseen: by the law, and in a congested network."""
    unseen = _native.lgc_look(list(BLIND))[1] is None
    records = runs.records("five")
    return {
        "15 % each of five, 5 % each of five: nobody is greedy": [
            1.0 if unseen else -1.0 for _ in records
        ],
        "simulated: the node is congested, the average goes above 35": [
            m.highest_average(each) - 35.0 for each in records
        ],
        "LGC looks": [m.triggers(each) for each in records],
        "and finds nobody": [0.5 - len(m.found(each)) for each in records],
    }


EVEN = (6, 5, 5, 5, 4)
"""Responsive connections, one with a packet more than its fair share of 5."""


def small_factor(_: Runs) -> Exact:
    """Check that with k = 1 a responsive connection would be judged greedy, with k = ln 3n not."""
    fair = sum(EVEN) / len(EVEN)
    greedy, found = max(EVEN) > fair, _native.lgc_look(list(EVEN))[1]
    text = f"{max(EVEN)} of {sum(EVEN)}: above k f = {fair:g}, not above {_share(list(EVEN))}"
    return Exact(text, greedy and found is None)


def large_factor(_: Runs) -> Exact:
    """Check that with k = n nobody can be judged greedy, and that k = ln 3n finds connection 1."""
    packets = sum(EXPERIMENT_1)
    found = _native.lgc_look(list(EXPERIMENT_1))[1]
    text = f"{max(EXPERIMENT_1)} of {packets}: k f = {packets} with k = n"
    return Exact(text, max(EXPERIMENT_1) <= packets and found == 0)


def greediest(_: Runs) -> Exact:
    """Check what a responsive connection may hold, and that connection 1 is the greediest."""
    share, greediest = _native.lgc_look(list(EXPERIMENT_1))
    return Exact(f"{share}", share == 17 and greediest == 0)


def _packets(runs: Runs, case: str, name: str) -> int:
    """Return how many packets a flow of a class sends over UDP."""
    return round(runs.effective.amount(case, f"traffic.{name}.size.constant") / UDP_PAYLOAD)


def moderate(runs: Runs) -> Exact:
    """Check the bursts of the source that asks for little: flows of 13 or of 14 packets."""
    starts: list[float] = []
    packets = 0
    for name in ("s1", "s1more"):
        at = [amount(each) for each in runs.effective.at("1b", f"traffic.{name}.arrivals.at")]
        packets += len(at) * _packets(runs, "1b", name)
        starts += at
    starts.sort()
    gaps = {later - former for former, later in pairwise(starts)}
    return Exact(f"{packets} / {len(starts)} / {' '.join(f'{gap:g}' for gap in sorted(gaps))} s")


def one_burst(runs: Runs) -> Exact:
    """Check that the first greedy source sends in one burst."""
    packets = _packets(runs, "3", "s1")
    burst = runs.effective.at("3", "traffic.s1.transport.udp").get("burst")
    count = 1 if burst is None else -(-packets // burst["packets"])
    return Exact(f"{packets} packets in {count} burst")


def idle_time(runs: Runs) -> Exact:
    """Check that Tx of every experiment is longer than T, which experiment 1 has measured."""
    longest = float(max(runs.values("1", m.lag_s)))
    tx = {runs.effective.amount(each, "port.last.filter.tx") for each in EXPERIMENTS}
    shown = " ".join(f"{each:g}" for each in sorted(tx))
    return Exact(f"{shown} s, T at most {longest:.2g} s", min(tx) > longest)


def stays(runs: Runs) -> Exact:
    """Check that the filter is at node 7 for FHTime, and that no other node is asked."""
    records = runs.records("1")
    lasts = {str(m.scenario(record)["port"]["last"]["filter"]["fhtime"]) for record in records}
    phases = {look.phase for record in records for look in m.looks(record)}
    text = f"node 7, {' '.join(sorted(phases))}, FHTime {' '.join(sorted(lasts))}"
    return Exact(text, phases == {"first-hop"} and {amount(each) for each in lasts} == {100.0})


def once(runs: Runs) -> Exact:
    """Check that LGC is triggered once, and without Tx several times."""
    once, without = (runs.values(case, m.triggers) for case in ("1", "1/at-once"))
    note = f"Without Tx {without.mean():.2g} times on average, {without.max():.0f} at most."
    found = " or ".join(sorted({f"{each:g}" for each in once}))
    return Exact(found, bool(np.all(once == 1.0)) and float(without.mean()) > 1.0, note=note)


def order(runs: Runs) -> Exact:
    """Check that the filter goes I3, I2, I1, and that what they take are runs without a gap."""
    records = runs.records("2")
    right = [m.in_order(record) for record in records]
    shown = records[right.index(False)] if False in right else records[0]
    ranges = [(name, m.taken(shown, port)) for port, name in m.NODES.items()]
    said = ", ".join(f"{name} a{run.first}-a{run.last}" for name, run in ranges if run)
    return Exact(f"{said} (seed {shown.seed}); right in {sum(right)} of {len(right)}", all(right))


def sequence(runs: Runs) -> Parts:
    """Check A, D, B and C of Figure 11, one after the other."""
    each = [_events(record) for record in runs.records("3")]
    return {what: [events[what] for events in each] for what in each[0]}


def _or_zero(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _events(record: SavedRun) -> dict[str, float]:
    """Return by how much each part of the sequence holds in a run; below zero: it does not."""
    at = [look.time_s for look in m.found(record)]
    if [look.origin for look in m.found(record)] != ["s1", "s3"]:
        return dict.fromkeys(_SEQUENCE, -1.0)
    came, threshold = m.arrivals(record), m.max_th(record)
    between = came.filter((pl.col("time_s") > at[0]) & (pl.col("time_s") < at[1]))
    lowest = between["queue_packets"].min()
    lowest_at = between.filter(pl.col("queue_packets") == lowest)["time_s"].head(1).item()
    again = between.filter(pl.col("time_s") > lowest_at)["queue_packets"].max()
    again_inside = between.filter(
        (pl.col("time_s") > lowest_at) & (pl.col("time_s") < at[0] + m.tx_s(record))
    )["avg_queue_packets"].max()
    after = came.filter(pl.col("time_s") > at[1])["avg_queue_packets"].tail(1).item()
    queue_at_a = m.found(record)[0].packets
    values = (
        1.0,
        queue_at_a - _or_zero(lowest),
        _or_zero(again) - _or_zero(lowest),
        _or_zero(again_inside) - threshold,
        at[1] - at[0] - m.tx_s(record) + 1e-9,
        threshold - after,
    )
    return dict(zip(_SEQUENCE, values, strict=True))


_SEQUENCE = (
    "A: source 1 is filtered, source 3 after it",
    "the queue sinks",
    "source 3 fills it again",
    "D: inside Tx the average passes 35 again, without a trigger",
    "B: the second trigger comes after Tx",
    "C: congestion ends",
)


def filter_order(runs: Runs) -> Exact:
    """Check that node 1 is filtered first and node 3 second, in every run."""
    orders = {tuple(look.origin for look in m.found(record)) for record in runs.records("3")}
    said = " or ".join(" then ".join(each) or "nobody" for each in sorted(orders))
    return Exact(said, orders == {("s1", "s3")})


def stops(runs: Runs) -> Parts:
    """Check that the filter stays at I1, and that nothing is sent to the source."""
    records = runs.records("2")
    last = [record.events("first")["phase"] for record in records]
    back = [record.port("entry.reverse")["departed"] for record in records]
    return {
        "I1 is the first hop, and asks nobody": [
            1.0 if phases == ["first-hop"] else -1.0 for phases in last
        ],
        "no packet goes to the source": [0.5 - packets for packets in back],
        "LGC looked": [float(len(m.looks(record))) for record in records],
    }
