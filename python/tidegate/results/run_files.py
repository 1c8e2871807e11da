"""The files of one saved run: how they are written, and how they are read.

    flows.parquet, ports.parquet, events.parquet   its tables
    arrivals, flow_series, class_series, queue_series, acks, udp, video, flow_window,
    class_rates, pages, objects   (.parquet) where they have rows
    scenario.toml    the effective scenario, if tables are saved
    summary.json     the summary of `tidegate run --json`
    manifest.json    code, scenario, seed, cost, and a checksum of every file

A run of a study has fewer columns: `flows.parquet` holds the finished flows
with the columns that the study asks for, `rates.parquet` first SYNs, admissions
and completions in every second, `ports.parquet` no access links. Its times are
32-bit floats: a resolution of some 15 us at 300 s.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.errors import TidegateError, from_os
from tidegate.results.location import readable
from tidegate.results.provenance import provenance
from tidegate.results.run_output import RunOutput, Wanted
from tidegate.results.store import MANIFEST, checksum, display

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from tidegate.results.simulate import Outcome
    from tidegate.results.store import Objects, Store

    Floats = NDArray[np.float64]

SUMMARY = "summary.json"


def write_run(
    store: Store | Objects,
    output: RunOutput,
    effective: str,
    *,
    command: str = "run",
    more: Mapping[str, object] | None = None,
) -> None:
    """Write the files of one run of an effective scenario; its manifest holds `more` too."""
    for name, content in output.tables.items():
        store.write(f"{name}.parquet", content)
    if output.tables:
        store.write("scenario.toml", effective.encode())
    store.write_json(SUMMARY, output.summary)
    manifest = provenance(command, effective) | {
        "seed": output.seed,
        "wall_s": output.wall_s,
        "cpu_s": output.cpu_s,
        "packet_hops": output.packet_hops,
        **(more or {}),
        "files": list(store.files),
        "checksums": dict(store.sums),
    }
    store.write_json(MANIFEST, manifest)


def write_single_run(
    store: Store | Objects, outcome: Outcome, more: Mapping[str, object] | None = None
) -> RunOutput:
    """Write all files of a run that is in a folder of its own; return what was written."""
    output = RunOutput.of(outcome, Wanted())
    more = {"access_ports": sorted(outcome.access), **(more or {})}
    write_run(store, output, outcome.scenario.show(), more=more)
    return output


IDENTITY = ("command", "code_hash", "scenario_hash", "seed")
"""The entries of a manifest that tell a run from others."""
GROWN = (".pcapng", ".sqlog")
"""How the names of files end that grow while a run goes on."""


def about_run(effective: str, seed: int) -> dict[str, Any]:
    """Return the entries of a manifest that identify a run."""
    opening = {**provenance("run", effective), "seed": seed}
    return {name: opening[name] for name in IDENTITY}


def grown(manifest: Mapping[str, Any]) -> set[str]:
    """Return which files of a run only that run writes: captures and logs."""
    return {name for name in manifest.get("files", []) if name.endswith(GROWN)}


def loses_nothing(about: Mapping[str, Any], files: set[str], there: Mapping[str, Any]) -> bool:
    """Tell whether a run replaces one with such a manifest without loss.

    It is the same run, by all entries of `about`, and writes those of its files again that only
    that run writes: `files` has their names.
    """
    same = all(there.get(name) == value for name, value in about.items())
    return same and grown(there) <= files


def same_run(
    folder: Path, there: Mapping[str, Any], mine: Mapping[str, Any], result_hash: str
) -> bool:
    """Tell whether a folder with a manifest holds the same run with the same results."""
    about = {name: mine.get(name) for name in IDENTITY}
    if not loses_nothing(about, grown(mine), there):
        return False
    try:
        return bool(read_json(folder / SUMMARY).get("result_hash") == result_hash)
    except Damaged:
        return True  # the same again mends it


class Damaged(TidegateError):
    """A saved run is incomplete or changed; `file` is the file that is wrong."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"Could not read {display(file)}: it is damaged or missing.",
            "Run the command that made the folder again: it repeats damaged runs.",
        )
        self.file = file


@dataclass(frozen=True)
class SavedRun:
    """One run in its folder; files are read when they are asked for, or raise Damaged.

    Summary and manifest are kept in memory, tables are not.
    """

    folder: Path
    seed: int

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of summary.json."""
        return read_json(self.folder / SUMMARY)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The content of manifest.json."""
        return read_json(self.folder / MANIFEST)

    @property
    def commit(self) -> str:
        """The commit of the code that simulated it; empty outside of a checkout."""
        return str(self.manifest["commit"] or "")

    @property
    def all(self) -> dict[str, Any]:
        """The measures of all flows together, over the window of the scenario."""
        found: dict[str, Any] = self.summary["all"]
        return found

    def traffic(self, name: str) -> dict[str, Any]:
        """Return the measures of one traffic class."""
        return self._named("classes", name)

    def port(self, name: str) -> dict[str, Any]:
        """Return the measures of a port, over the window of the scenario."""
        return self._named("ports", name)

    def _named(self, part: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(each for each in self.summary[part] if each["name"] == name)
        return found

    def table(self, name: str, columns: list[str] | None = None) -> pl.DataFrame:
        """Return one of its tables, or some of the columns; empty if it had no rows."""
        import polars as pl

        path = self.folder / f"{name}.parquet"
        if path.name not in self.manifest["files"]:
            return pl.DataFrame()
        return pl.read_parquet(readable(path), columns=columns, glob=False)

    def flows(self) -> dict[str, Floats]:
        """Return the flows: of a study the finished ones, in the order of their starts."""
        return _arrays(self.table("flows"))

    def rates(self) -> dict[str, Floats]:
        """Return `started`, `admitted` and `completed` in every second, which ends at `time_s`."""
        return _arrays(self.table("rates"))

    def ports(self, name: str = "bottleneck") -> dict[str, Floats]:
        """Return the samples of one port."""
        return _arrays(self._at("ports", name))

    def series(self, name: str) -> dict[str, Floats]:
        """Return the rows of a class that the scenario names in `series`."""
        import polars as pl

        return _arrays(self.table("class_series").filter(pl.col("class") == name).drop("class"))

    def events(self, port: str = "bottleneck") -> dict[str, Any]:
        """Return the decisions of the law at a port; `phase` is a list of words."""
        import polars as pl

        table = self._at("events", port)
        found: dict[str, Any] = _arrays(table.drop("law", "phase"))
        found["phase"] = table["phase"].cast(pl.String).to_list()
        return found

    def arrivals(self, port: str) -> pl.DataFrame:
        """Return the packets that came to a port with `record`, in the order in which they came."""
        import polars as pl

        return self._at("arrivals", port).with_columns(pl.col("origin", "fate").cast(pl.String))

    def copy_to(self, store: Store | Objects) -> None:
        """Write its files into another folder."""
        for name in self.manifest["files"]:
            store.write(name, (self.folder / name).read_bytes())
        store.write_json(MANIFEST, self.manifest)

    def _at(self, name: str, port: str) -> pl.DataFrame:
        import polars as pl

        return self.table(name).filter(pl.col("port") == port).drop("port")


def _arrays(table: pl.DataFrame) -> dict[str, Floats]:
    import polars as pl

    return {
        name: table[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in table.columns
    }


def read_run(folder: Path, seed: int) -> SavedRun | None:
    """Return the run in a folder, or None if none is there; Damaged if it is not whole."""
    if not folder.exists():
        return None
    run = SavedRun(folder, seed)
    manifest = run.manifest
    files, sums = manifest.get("files"), manifest.get("checksums", {})
    if manifest.get("seed") != seed or not isinstance(files, list) or not isinstance(sums, dict):
        raise Damaged(folder / MANIFEST)
    for name in files:
        try:
            content = (folder / str(name)).read_bytes()
        except PermissionError as error:
            raise from_os("read", display(folder / str(name)), error) from error
        except OSError:
            raise Damaged(folder / str(name)) from None
        if not content or (name in sums and sums[name] != checksum(content)):
            raise Damaged(folder / name)
    _ = run.summary  # read it now: a damaged one counts
    return run


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, or raise Damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except PermissionError as error:
        raise from_os("read", display(path), error) from error
    except (OSError, ValueError):
        raise Damaged(path) from None
    if not isinstance(found, dict):
        raise Damaged(path)
    return found
