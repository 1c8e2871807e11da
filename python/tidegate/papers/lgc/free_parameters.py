"""The search over parameters that the paper on LGC does not give (`--search`).

One search for each experiment: the paper gives no rate, no delay and no start. The
service rate and the links are shared, as by one laboratory; delay, start and Tx
are each experiment's own. Experiment 1b has the settings of experiment 1.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tidegate.papers.case import FreeParameter, ParameterSearch, parameter
from tidegate.papers.deviations import Alternative
from tidegate.papers.lgc.cases import BETWEEN_MS, between, delays, rates

if TYPE_CHECKING:
    from collections.abc import Sequence

SERVICE = (20, 30, 35, 40, 50, 60)
"""Packets/s that the congested node sends."""
FASTER = (1.0, 1.1, 1.25, 1.5)
"""By how much the links that lead there are faster."""
DELAYS_MS = (300, 400, 500)
SHORTER_MS = (50, 100, 200, *DELAYS_MS)
"""Delays of experiment 1, whose filter does not move: nothing asks for a long one."""
LATER_S = (0, 12, 18, 24, 30)
"""How much later source 1 of experiment 2 begins."""
TX_S = (3, 4, 5)


def _links(experiment: str) -> FreeParameter:
    options = (
        Alternative(f"{each}/s, links {by:g} times", rates(experiment, each, by), (experiment,))
        for each, by in product(SERVICE, FASTER)
    )
    return parameter("service", *options)


def _delays(experiment: str, values: Sequence[int] = DELAYS_MS) -> FreeParameter:
    options = [
        Alternative(f"{each} ms", delays(experiment, each), (experiment,)) for each in values
    ]
    if experiment == "2":
        first, second = BETWEEN_MS
        label = f"500 ms, I1 to I2 {first}, I2 to I3 {second}"
        options.append(Alternative(label, (*delays("2", 500), *between()), ("2",)))
    return parameter("delay of a link", *options)


def _one(what: str, experiment: str, key: str, values: dict[str, str]) -> FreeParameter:
    options = (
        Alternative(label, ((key, value),), (experiment,)) for label, value in values.items()
    )
    return parameter(what, *options)


CHOICES = (
    ParameterSearch(
        title="Experiment 1, on the queue at the first trigger",
        scored=("exp1.trigger_qlen", "exp1.occ"),
        together=(_links("1"), _delays("1", SHORTER_MS)),
        columns=(
            ("queue", ("exp1.trigger_qlen",)),
            ("of connections 1 to 7", tuple(f"exp1.occ.c{each}" for each in range(1, 8))),
            ("delivered, %", ("exp1.greedy_thr",)),
        ),
        seeds=3,
        shared=True,
    ),
    ParameterSearch(
        title="Experiment 2, on what I3 has forwarded and the filters drop",
        scored=(
            *(f"exp2.fwd.s{source}" for source in range(1, 6)),
            "exp2.drop.I3",
            "exp2.drop.I2",
            "exp2.drop.I1",
        ),
        together=(
            _links("2"),
            _delays("2"),
            _one(
                "source 1 begins",
                "2",
                "traffic.s1.arrivals",
                {f"{each} s later": f'{{ at = ["{each}.1s"] }}' for each in LATER_S},
            ),
        ),
        columns=(
            ("forwarded", tuple(f"exp2.fwd.s{source}" for source in range(1, 6))),
            ("dropped at I3, I2, I1", ("exp2.drop.I3", "exp2.drop.I2", "exp2.drop.I1")),
        ),
        seeds=3,
        shared=True,
    ),
    ParameterSearch(
        title="Experiment 3, on what arrives of the greedy sources",
        scored=("exp3.thr_g1", "exp3.thr_g2"),
        together=(
            _links("3"),
            _delays("3"),
            _one("Tx", "3", "port.last.filter.tx", {f"{each} s": f"{each}s" for each in TX_S}),
        ),
        columns=(("delivered, %", ("exp3.thr_g1", "exp3.thr_g2")),),
        seeds=3,
        shared=True,
    ),
)
