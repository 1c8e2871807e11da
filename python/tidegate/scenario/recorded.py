"""The user's own traffic: flows out of packet captures and tables, for scenarios that replay them.

A scenario names a file under `flows`; the native module is handed a table of
it, as CSV, whatever the file was. Captures are read in pieces, so that their
size does not matter.
"""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.errors import TidegateError, TidegateWarning, from_os, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

COLUMNS = ("start_s", "size_bytes", "direction", "client", "server", "closed", "transport")
"""What is told of each flow; a scenario needs the first two, and takes the third."""

TRACE = ("time_s", "rate_bit_s", "delay_s")
"""The columns of a trace of a link, the first and at least one of the others."""

TOLD_SHARE = 0.1
"""The least share of the bytes in no flow that is worth a warning."""

PIECE = 1 << 20
"""Bytes that are read at a time."""

MOST_FLOWS = 1_000_000
"""Flows that a scenario takes from one file; the native module refuses more."""

MOST_LINES = 10_000_000
"""Lines of a trace that it takes; it refuses more."""

MOST_BYTES = 128 << 20
"""Size of a table that the native module takes; it refuses a larger one."""

_CAPTURES = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)
_PARQUET = b"PAR1"
_GZIP = b"\x1f\x8b"
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Recorded:
    """What a packet capture holds."""

    path: Path
    frame: pl.DataFrame
    """A row per connection with data, by start: the `COLUMNS`, and `other_bytes`, sent the
    other way."""
    skipped: dict[str, int]
    """Why something is not among the flows, and how much of it."""
    skipped_bytes: dict[str, int]
    """The bytes of these packets on the link, by the same reasons."""
    packets: int
    wire_bytes: int
    """Bytes of all packets on the link."""
    span_s: float
    broken: str | None
    """Why reading ended before the end of the file, if it did."""

    @property
    def left_out(self) -> str | None:
        """How much of the bytes is in no flow, in words; None where that is less than a tenth."""
        share = sum(self.skipped_bytes.values()) / self.wire_bytes if self.wire_bytes else 0.0
        if share < TOLD_SHARE:
            return None
        why, most = max(self.skipped_bytes.items(), key=lambda each: each[1])
        return (
            f"{share:.0%} of the bytes are in no flow"
            f" ({why.removeprefix('packet ').removeprefix('of ')}: {most / self.wire_bytes:.0%})"
        )

    @property
    def estimated(self) -> str | None:
        """Which flows are of QUIC, and that their sizes are estimated, in words; None: none is."""
        quic = self.frame.filter(self.frame["transport"] == "quic")
        if not quic.height:
            return None
        share = int(quic["size_bytes"].sum()) / int(self.frame["size_bytes"].sum())
        return (
            f"{quic.height} of {self.frame.height} flows are connections of QUIC, with {share:.0%}"
            " of the bytes; these are estimated by the lengths of packets"
        )

    @property
    def csv(self) -> bytes:
        """The flows as a table that scenarios can replay."""
        return self.frame.select(COLUMNS).write_csv().encode()

    def json(self) -> Iterator[str]:
        """Yield the object that `tidegate flows --json` prints, in pieces."""
        yield '{"flows": ['
        frame = self.frame.select(COLUMNS)
        for first in range(0, frame.height, _ROWS_AT_ONCE):
            some = frame.slice(first, _ROWS_AT_ONCE).to_dicts()
            yield (", " if first else "") + json.dumps(some, allow_nan=False)[1:-1]
        left = {
            "skipped": self.skipped,
            "skipped_bytes": self.skipped_bytes,
            "wire_bytes": self.wire_bytes,
        }
        yield f"], {json.dumps(left)[1:]}"


def read(path: str | Path, tick: Callable[[int], None] | None = None) -> Recorded:
    """Read the connections of TCP and QUIC in a packet capture (pcap or pcapng).

    `tick` is told how many bytes have been read. Raises TidegateError where
    the file cannot be read, is no capture, or holds neither.
    """
    path = path_of(path, "a packet capture")
    capture = _native.Capture()
    done = 0
    try:
        with path.open("rb") as file:
            while (piece := file.read(PIECE)) and capture.feed(piece):
                done += len(piece)
                if tick is not None:
                    tick(done)
        found = capture.finish()
    except OSError as error:
        raise from_os("read the capture", path, error) from error
    except _native.CaptureError as error:
        raise TidegateError(f"Could not take flows from {path}: {error}.", _remedy(path)) from error
    return Recorded(path, _frame(found["flows"]), **{key: found[key] for key in _KEPT})


_KEPT = ("skipped", "skipped_bytes", "packets", "wire_bytes", "span_s", "broken")


def _frame(columns: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    types = {
        "start_s": pl.Float64,
        "size_bytes": pl.UInt64,
        "direction": pl.String,
        "client": pl.String,
        "server": pl.String,
        "closed": pl.Boolean,
        "transport": pl.String,
        "other_bytes": pl.UInt64,
    }
    return pl.DataFrame(columns, schema=types)


def _remedy(path: Path) -> str:
    if _begins(path).startswith(_GZIP):
        return "It is compressed: unpack it first, with gunzip."
    return (
        "Give a capture of TCP or QUIC as tcpdump or Wireshark writes it (pcap or pcapng); "
        "a table (CSV or Parquet) is replayed as it is."
    )


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_PARQUET))


def content(path: Path) -> bytes:
    """Return what the native module is to be handed for a file that a scenario names.

    A capture and a Parquet file become tables in CSV; anything else is handed
    over as it is, up to the size that is refused there. Raises OSError, and
    TidegateError as `read` does.
    """
    begins = _begins(path)
    if begins in _CAPTURES:
        state = path.stat()
        modified = getattr(state, "st_mtime_ns", 0)
        return _of_capture(path, modified, state.st_size)
    if begins == _PARQUET:
        return _of_parquet(path)
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


@lru_cache(maxsize=4)
def _of_capture(path: Path, _modified_ns: int, _size: int) -> bytes:
    """Read a capture once, though a comparison loads its scenario for every control."""
    found = read(path)
    if found.broken is not None:
        what = f"{path}: {found.broken}; the flows up to there are replayed"
        warnings.warn(what, TidegateWarning, stacklevel=2)
    for said in (found.estimated, found.left_out):
        if said is not None:
            warnings.warn(f"{path}: {said}", TidegateWarning, stacklevel=2)
    return found.csv


def _of_parquet(path: Path) -> bytes:
    import polars as pl

    try:
        # a file in an object store is no file of this machine
        near = isinstance(path, Path) and not hasattr(path, "fs")
        table = pl.scan_parquet(path if near else io.BytesIO(path.read_bytes()), glob=False)
        names = table.collect_schema().names()
        wanted = [name for name in COLUMNS[:3] if name in names]
        trace = [name for name in TRACE if name in names]
        if set(COLUMNS[:2]) <= set(wanted):
            frame = table.select(wanted).head(MOST_FLOWS + 1).collect()
        elif TRACE[0] in trace and len(trace) > 1:
            frame = table.select(trace).head(MOST_LINES + 1).collect()
        else:
            # the native module says what is missing
            frame = table.select(names[:20]).head(0).collect()
        return frame.write_csv().encode()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TidegateError(
            f"Could not read the table {path}: {str(error).splitlines()[0]}.",
            "Write it as Parquet again, with the columns start_s, size_bytes and direction;"
            " a trace of a link with time_s, rate_bit_s and delay_s.",
        ) from error
