"""The checks of experiments 1, 1b, 2 and 3 (5.1 to 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidegate.papers.check_builders import Value, number
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount
from tidegate.papers.lgc import measures as m
from tidegate.papers.lgc.outcomes import OTHERS
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Measure, Parts, Runs
    from tidegate.results.run_files import SavedRun

PERCENT = 100.0


def all_same(runs: Runs, case: str, measure: Measure, said: float, note: str = "") -> Exact:
    """Return that a measure is exactly what is claimed, in every run; else what it is."""
    values = runs.values(case, measure)
    shown = sorted({f"{value:g}" for value in values})
    return Exact(" or ".join(shown), bool(np.all(values == said)), note=note)


def first_found(record: SavedRun) -> float:
    """Return the number of the source that is filtered first; 0: none is."""
    return float(m.found(record)[0].origin[1:]) if m.found(record) else 0.0


# Experiment 1


@claim("exp1.occ.c{connection}", connection=tuple(range(1, 8)))
def occupancy(connection: int) -> Check:
    """Check what a connection held of it."""
    return number(Value("1", m.held(f"s{connection}")))


@claim("exp{experiment}.identified", of=("1", "2"), experiment=("1", "2"))
def identified(runs: Runs, experiment: str) -> Exact:
    """Check that connection 1 and nobody else is filtered, in every run."""
    others = [look.origin for record in runs.records(experiment) for look in m.found(record)]
    if set(others) - {"s1"}:
        return Exact(f"{' '.join(sorted(set(others)))}", False)
    return all_same(runs, experiment, first_found, 1.0)


@claim("exp1.first_hop", of=("1",))
def stays(runs: Runs) -> Exact:
    """Check that the filter is at node 7 for FHTime, and that no other node is asked."""
    records = runs.records("1")
    lasts = {str(m.scenario(record)["port"]["last"]["filter"]["fhtime"]) for record in records}
    phases = {look.phase for record in records for look in m.looks(record)}
    text = f"node 7, {' '.join(sorted(phases))}, FHTime {' '.join(sorted(lasts))}"
    return Exact(text, phases == {"first-hop"} and {amount(each) for each in lasts} == {100.0})


@claim("exp1.resp_thr", of=("1",))
def giving_way(runs: Runs) -> Exact:
    """Check that everything of the sources that give way arrives."""
    return all_same(runs, "1", _least(*OTHERS["1"]), PERCENT)


def _least(*sources: str) -> Measure:
    measure = m.share(*sources)
    return lambda record: PERCENT * measure(record)


@claim("exp1.avg_lag", of=("1",))
def lags(runs: Runs) -> Parts:
    """Check that the average moves less than half as far as the queue, arrival by arrival."""
    values = runs.values("1", m.average_moves)
    return {f"{100 * values.mean():.0f} % as far, under 50 %": 0.5 - values}


@claim("exp1.drop_after", of=("1",))
def drops(runs: Runs) -> Parts:
    """Check that the queue falls below half within Tx once the filter is there."""
    values = runs.values("1", m.left_after)
    return {f"to {100 * values.mean():.0f} % within Tx, under 50 %": 0.5 - values}


@claim("exp1.T_lag", of=("1",))
def stays_above(runs: Runs) -> Parts:
    """Check that the average stays above the threshold for longer than the queue, and under Tx."""
    values, queue = runs.values("1", m.lag_s), runs.values("1", m.queue_lag_s)
    return {
        f"T = {values.mean():.2g} s, longer than the queue ({queue.mean():.2g} s)": values - queue,
        "Tx > T": runs.values("1", m.tx_s) - values,
    }


@claim("exp1.no_retrigger", of=("1", "1/at-once"))
def once(runs: Runs) -> Exact:
    """Check that LGC is triggered once, and without Tx several times."""
    without = runs.values("1/at-once", m.triggers)
    note = f"Without Tx {without.mean():.2g} times on average, {without.max():.0f} at most."
    exact = all_same(runs, "1", m.triggers, 1.0, note)
    return Exact(exact.found, bool(exact.equal) and float(without.mean()) > 1.0, note=note)


# Experiment 1b


@claim("exp1b.trigger", of=("1b",))
def not_triggered(runs: Runs) -> Exact:
    """Check that LGC is not triggered."""
    return all_same(runs, "1b", m.triggers, 0.0)


@claim("exp1b.thr", of=("1b",))
def all_arrives(runs: Runs) -> Exact:
    """Check that everything of all seven arrives."""
    return all_same(runs, "1b", _least(*OTHERS["1b"]), PERCENT)


@claim("exp1b.loss", of=("1b",))
def nothing_lost(runs: Runs) -> Exact:
    """Check that no packet is lost."""
    exact = all_same(runs, "1b", m.lost_full, 0.0)
    higher = float(runs.values("1b", m.spikes).mean())
    return Exact(
        exact.found, exact.equal, note=f"The queue goes {higher:.0f} packets above its average."
    )


# Experiment 2


@claim("exp2.fwd.s{source}", source=tuple(range(1, 6)))
def forwarded(source: int) -> Check:
    """Check how many packets of a source I3 has taken by the first trigger."""
    return number(Value("2", m.came(f"s{source}")))


@claim("exp2.drop.{node}", node=tuple(m.NODES.values()))
def dropped(node: str) -> Check:
    """Check how many packets the filter of a node takes."""
    port = next(port for port, name in m.NODES.items() if name == node)
    return number(Value("2", m.filtered(port)))


@claim("exp2.order", of=("2",))
def order(runs: Runs) -> Exact:
    """Check that the filter goes I3, I2, I1, and that what they take are runs without a gap."""
    records = runs.records("2")
    right = [m.in_order(record) for record in records]
    shown = records[right.index(False)] if False in right else records[0]
    ranges = [(name, m.taken(shown, port)) for port, name in m.NODES.items()]
    said = ", ".join(f"{name} a{run.first}-a{run.last}" for name, run in ranges if run)
    return Exact(f"{said} (seed {shown.seed}); right in {sum(right)} of {len(right)}", all(right))


@claim("exp2.more", of=("2",))
def more_upstream(runs: Runs) -> Parts:
    """Check that each hop farther up drops more."""
    at = {name: runs.values("2", m.filtered(port)) for port, name in m.NODES.items()}
    return {
        f"{up} more than {down} ({at[up].mean():.3g} to {at[down].mean():.3g})": at[up] - at[down]
        for down, up in (("I3", "I2"), ("I2", "I1"))
    }


# Experiment 3


@claim("exp3.thr_mod", of=("3",))
def moderate(runs: Runs) -> Exact:
    """Check that everything of the moderate sources arrives."""
    return all_same(runs, "3", _least(*OTHERS["3"]), PERCENT)


@claim("exp3.thr_g{place}", place=(1, 2))
def greedy_shares(place: int) -> Check:
    """Check what arrives of a greedy source."""
    return number(Value("3", m.share("s1" if place == 1 else "s3"), PERCENT))


def _before_the_greedy(record: SavedRun) -> float:
    """Return the largest average before a packet of a greedy source comes."""
    came = m.arrivals(record)
    first = came.filter(pl.col("origin").is_in(["s1", "s3"]))["time_s"].head(1).item()
    return float(came.filter(pl.col("time_s") < first)["avg_queue_packets"].max())  # type: ignore[arg-type]


@claim("exp3.sequence", of=("3",))
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


@claim("exp3.order", of=("3",))
def filter_order(runs: Runs) -> Exact:
    """Check that node 1 is filtered first and node 3 second, in every run."""
    orders = {tuple(look.origin for look in m.found(record)) for record in runs.records("3")}
    said = " or ".join(" then ".join(each) or "nobody" for each in sorted(orders))
    return Exact(said, orders == {("s1", "s3")})


@claim("exp3.triggers", of=("3",))
def two_triggers(runs: Runs) -> Exact:
    """Check that LGC is triggered twice."""
    return all_same(runs, "3", m.triggers, 2.0)


CHECKS = {
    "exp1.trigger_qlen": number(Value("1", m.queue_at_trigger)),
    "exp1.greedy_thr": number(Value("1", m.share("s1"), PERCENT)),
    "exp1.initial_q": number(Value("1", m.initial_queue)),
    "exp1b.avg": number(Value("1b", m.highest_average)),
    "exp1b.queue": number(Value("1b", m.longest_queue)),
    "exp2.fwd.total": number(Value("2", m.came_at_trigger)),
    "exp2.drop.total": number(Value("2", m.all_filtered)),
    "exp3.initial": number(Value("3", _before_the_greedy)),
}
