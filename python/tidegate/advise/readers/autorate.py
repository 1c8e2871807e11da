"""A log of cake-autorate: what CAKE let through each moment, and the one-way delays meanwhile."""

from __future__ import annotations

import re

from tidegate.advise.facts import DOWN, UP, Fact, What, least, mean_of, of_samples
from tidegate.scenario.tree import Damaged, in_range

_WAYS = {"DL": DOWN, "UL": UP}
BUSY = 75.0
"""Per cent of the shaper's rate from which on the log calls the load high."""
FEWEST = 5
"""Lines under load that are needed for a fact of load."""

HEAD = (
    "LOG_DATETIME; LOG_TIMESTAMP; PROC_TIME_US; DL_ACHIEVED_RATE_KBPS; UL_ACHIEVED_RATE_KBPS;"
    " DL_LOAD_PERCENT; UL_LOAD_PERCENT; ICMP_TIMESTAMP; REFLECTOR; SEQUENCE; DL_OWD_BASELINE;"
    " DL_OWD_US; DL_OWD_DELTA_EWMA_US; DL_OWD_DELTA_US; DL_ADJ_DELAY_THR; UL_OWD_BASELINE;"
    " UL_OWD_US; UL_OWD_DELTA_EWMA_US; UL_OWD_DELTA_US; UL_ADJ_DELAY_THR"
)
"""The first columns of a line `DATA`, where a log was rotated and has no line `DATA_HEADER`."""


def knows(text: str) -> bool:
    """Tell whether this is such a log."""
    return bool(re.search(r"^(DATA_HEADER|DATA|LOAD_HEADER|LOAD|SUMMARY); ", text, re.MULTILINE))


def read(text: str, source: str) -> list[Fact]:
    """Read the lines `DATA`, as `output_processing_stats=1` writes them."""
    names = [each.strip() for each in HEAD.split(";")]
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        kind, _, rest = line.partition(";")
        if kind == "DATA_HEADER":
            names = [each.strip() for each in rest.split(";")]
        elif kind == "DATA":
            cells = [each.strip() for each in rest.split(";")]
            rows.append((number, dict(zip(names, cells, strict=False))))
    if not rows:
        raise Damaged(
            "it has no line `DATA`; set output_processing_stats=1 in the configuration of"
            " cake-autorate, and let it run through a busy hour"
        )
    base = [
        (_cell(row, "DL_OWD_BASELINE", at) + _cell(row, "UL_OWD_BASELINE", at)) * 1e-6
        for at, row in rows
    ]
    facts = [least(What.IDLE, "", base, source)]
    for sign, way in _WAYS.items():
        facts += _of_way(rows, sign, way, min(base), source)
    return facts


def _of_way(
    rows: list[tuple[int, dict[str, str]]], sign: str, way: str, idle: float, source: str
) -> list[Fact]:
    """Return what the moments of high load show of one direction."""
    rates, trips, slowed = [], [], []
    for at, row in rows:
        rate = _cell(row, f"{sign}_ACHIEVED_RATE_KBPS", at) * 1e3
        late = _cell(row, f"{sign}_OWD_DELTA_US", at)
        if _cell(row, f"{sign}_LOAD_PERCENT", at) < BUSY or rate <= 0:
            continue
        rates.append(rate)
        trips.append(idle + max(0.0, late) * 1e-6)
        if late > _cell(row, f"{sign}_ADJ_DELAY_THR", at):
            slowed.append(rate)
    if len(rates) < FEWEST:
        return []
    found = [
        of_samples(What.LOADED, way, trips, source),
        of_samples(What.PEAK, way, trips, source, share=0.95),
    ]
    # where its delay rises though CAKE shapes, the link behind is full
    full = len(slowed) >= FEWEST
    fact = mean_of(What.RATE, way, slowed if full else rates, source)
    return [
        *found,
        Fact(
            *(fact.what, way, fact.value, fact.low, fact.high, source, fact.samples, full),
            note="behind CAKE",
        ),
    ]


def _cell(row: dict[str, str], name: str, at: int) -> float:
    if name not in row:
        raise Damaged(f"line {at}: there is no column {name}")
    try:
        value = float(row[name])
    except ValueError as error:
        raise Damaged(f"line {at}: {name} is {row[name]}, which is no number") from error
    return in_range(value, f"line {at}: {name}", -1e15, 1e15)
