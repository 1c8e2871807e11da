from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import LawFault, ScenarioError

__all__ = [
    "Capture",
    "CaptureError",
    "Counts",
    "Knobs",
    "LawFault",
    "RateCounts",
    "RateKnobs",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "View",
    "__version__",
    "axes",
    "columns",
    "files",
    "lgc_look",
    "lgc_permissible_percent",
    "load",
    "schema",
    "student_t_quantile",
    "variants",
]

_Column: TypeAlias = NDArray[np.generic] | tuple[NDArray[np.uint32], list[str]]
_Table: TypeAlias = dict[str, _Column]

__version__: str

class CaptureError(ValueError): ...

@final
class Capture:
    def __new__(cls) -> Capture: ...
    def feed(self, piece: bytes) -> bool: ...
    def finish(self) -> dict[str, Any]: ...

@final
class Scenario:
    @property
    def name(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def warmup_s(self) -> float: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def ports(self) -> list[tuple[str, bool]]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def expected(self) -> list[tuple[str, float, int, float | None]]: ...
    def told_apart(self, port: str, flows: int) -> int: ...
    def show(self) -> str: ...

@final
class Simulation:
    def __new__(
        cls,
        scenario: Scenario,
        seed: int,
        laws: dict[str, Any] | None = None,
        capture: str | None = None,
    ) -> Simulation: ...
    def advance(self, budget_ms: float = 10.0) -> bool: ...
    def drain_capture(self) -> bytes: ...
    @property
    def now_s(self) -> float: ...
    def results(self) -> dict[str, Any]: ...

@final
class Knobs:
    allowance: int
    token_interval_ns: int
    token_depth_ns: int
    pass_all: bool
    def __new__(
        cls,
        *,
        allowance: int = 0,
        token_interval_ns: int = 0,
        token_depth_ns: int = 0,
        pass_all: bool = False,
    ) -> Knobs: ...
    def allow(self, sessions: int, epoch_s: float) -> None: ...
    def open(self) -> None: ...

@final
class Counts:
    def __new__(
        cls, *, arrived: int = 0, admitted: int = 0, departed: int = 0, resets: int = 0
    ) -> Counts: ...
    @property
    def arrived(self) -> int: ...
    @property
    def admitted(self) -> int: ...
    @property
    def departed(self) -> int: ...
    @property
    def resets(self) -> int: ...

@final
class RateKnobs:
    rate_bps: float

@final
class RateCounts:
    @property
    def packets(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def dropped_bytes(self) -> int: ...
    @property
    def mean_rtt_s(self) -> float | None: ...
    @property
    def mean_rtt_by_bytes_s(self) -> float | None: ...

@final
class View:
    def __new__(
        cls,
        *,
        rate_bps: int,
        queue_packets: int = 0,
        queue_bytes: int = 0,
        min_queue_packets: int = 0,
        queue_offered: int = 0,
        queue_drops: int = 0,
        busy_s: float = 0.0,
        idle_since_s: float | None = None,
    ) -> View: ...
    @property
    def rate_bps(self) -> int: ...
    @property
    def queue_packets(self) -> int: ...
    @property
    def queue_bytes(self) -> int: ...
    @property
    def min_queue_packets(self) -> int: ...
    @property
    def queue_offered(self) -> int: ...
    @property
    def queue_drops(self) -> int: ...
    @property
    def busy_s(self) -> float: ...
    @property
    def idle_since_s(self) -> float | None: ...

def files(
    text: str, origin: str, settings: list[tuple[str, str]], colour: bool = False
) -> list[str]: ...
def load(
    text: str,
    origin: str,
    settings: list[tuple[str, str]],
    files: dict[str, bytes],
    colour: bool = False,
) -> Scenario: ...
def variants(
    text: str, origin: str, settings: list[tuple[str, str]], colour: bool = False
) -> list[tuple[str, list[tuple[str, str]]]]: ...
def axes(
    text: str, origin: str, settings: list[tuple[str, str]], colour: bool = False
) -> tuple[list[tuple[str, list[str]]], int | None]: ...
def lgc_look(held: list[int]) -> tuple[int, int | None]: ...
def lgc_permissible_percent(connections: int) -> float: ...
def student_t_quantile(p: float, df: float) -> float: ...
def columns() -> dict[str, list[tuple[str, str, str, str]]]: ...
def schema() -> str: ...
