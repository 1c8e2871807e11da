"""Tables of a run as they come from the native module: rows, frames, and what was offered.

A column is an array, or a pair of codes and the names that they stand for. An
event that did not happen is NaN in arrays, null in frames and files.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[Any] | tuple[NDArray[np.uint32], list[str]]


SOMETIMES = (
    *("arrivals", "flow_series", "class_series", "queue_series", "acks", "udp"),
    *("video", "flow_window", "rtt", "class_rates", "queues", "pages", "objects"),
)
"""Tables that a run may have, or not."""
SUMMARISED = ("rtt", "queues")
"""Of these, tables that do not go to files: the summary has their numbers."""


def written(tables: Mapping[str, Mapping[str, Column]]) -> list[str]:
    """Return the names of the tables that go to files."""
    there = [name for name in SOMETIMES if _has_rows(tables.get(name, {}))]
    return ["flows", "ports", "events", *(name for name in there if name not in SUMMARISED)]


def _has_rows(table: Mapping[str, Column]) -> bool:
    first = next(iter(table.values()), None)
    values = first[0] if isinstance(first, tuple) else first
    return values is not None and values.size > 0


def completed(flows: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return which flows have closed, but for those of UDP of which data was lost.

    Those have a `closed_s`, but the receiver did not get everything, and there is no `fct_s`.
    """
    names = ("closed_s", "fct_s", "size_bytes", "delivered_bytes")
    closed, fct, sizes, delivered = (np.asarray(flows[name], dtype=np.float64) for name in names)
    # never of a flow without end, whose size is NaN
    lost = np.isnan(fct) & (delivered < sizes)
    return ~np.isnan(closed) & ~lost


def flows_hash(flows: Mapping[str, Any], pages: Mapping[str, Any]) -> str:
    """Return a digest of the flows that were offered: their classes, starts and sizes.

    Of users who load pages it is the first page of each: when and over which connections the
    others are loaded depends on the network. Runs with the same digest met the same flows and
    users, whatever became of them.
    """
    codes, names = flows["class"]
    digest = hashlib.blake2b(repr(names).encode(), digest_size=20)
    offered = [codes, flows["start_s"], flows["size_bytes"]]
    if pages:
        drawn = ~np.isin(codes, pages["class"][0])
        first = pages["number"] == 0
        of_users = [pages["class"][0], *(pages[name] for name in ("user", "start_s", "size_bytes"))]
        offered = [each[drawn] for each in offered] + [each[first] for each in of_users]
    for column in offered:
        digest.update(np.ascontiguousarray(column).data)
    return digest.hexdigest()


def select(flows: Mapping[str, Any], chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the rows of a table of flows that are chosen, without its column of names."""
    columns = {name: each for name, each in flows.items() if not isinstance(each, tuple)}
    return {name: each[chosen] for name, each in columns.items()}


def frame(table: Mapping[str, Column]) -> pl.DataFrame:
    """Return a table as a Polars frame: NaN becomes null, names become an Enum."""
    import polars as pl

    columns = []
    for name, column in table.items():
        if isinstance(column, tuple):
            codes, names = column
            distinct = sorted(set(names))
            # a network of 20,000 pairs has 80,000 names: a search for each takes minutes
            place = {each: at for at, each in enumerate(distinct)}
            indices = np.array([place[each] for each in names], dtype=np.uint32)
            words = pl.Series(name, distinct, dtype=pl.Enum(distinct))
            columns.append(words.gather(indices[codes]))
        elif column.dtype.kind == "f":
            columns.append(pl.Series(name, column, nan_to_null=True))
        else:
            columns.append(pl.Series(name, column))
    return pl.DataFrame(columns)
