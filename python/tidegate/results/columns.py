"""Tables of a run as they come from the native module: digest, rows, and frames.

A column is an array, or numbers of words beside the words. What has not
happened is NaN in arrays, null in frames and files.
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


SOMETIMES = ("arrivals", "flow_series", "class_series", "queue_series", "udp", "video")
"""Tables that go to files where they have rows."""
UNHASHED = ("udp",)
"""Tables that are no part of the digest of a run: it says the same of a run as before they were."""


def written(tables: Mapping[str, Mapping[str, Column]]) -> list[str]:
    """Return the names of the tables that go to files."""
    there = [name for name in SOMETIMES if _has_rows(tables.get(name, {}))]
    return ["flows", "ports", "events", *there]


def _has_rows(table: Mapping[str, Column]) -> bool:
    first = next(iter(table.values()), None)
    values = first[0] if isinstance(first, tuple) else first
    return values is not None and values.size > 0


def result_hash(tables: Mapping[str, Mapping[str, Column]]) -> str:
    """Return a digest of the columns of a run: names, types and bytes."""
    digest = hashlib.blake2b(digest_size=20)
    for table in written(tables):
        if table in UNHASHED:
            continue
        for name, column in tables[table].items():
            values, names = column if isinstance(column, tuple) else (column, [])
            digest.update(f"{table}.{name}:{values.dtype.str}:{values.size}:{names!r}\n".encode())
            digest.update(np.ascontiguousarray(values).data)
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
            places = np.array([distinct.index(each) for each in names], dtype=np.uint32)
            words = pl.Series(name, distinct, dtype=pl.Enum(distinct))
            columns.append(words.gather(places[codes]))
        elif column.dtype.kind == "f":
            columns.append(pl.Series(name, column, nan_to_null=True))
        else:
            columns.append(pl.Series(name, column))
    return pl.DataFrame(columns)
