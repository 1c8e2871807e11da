"""A laboratory for congestion control in the network.

>>> r = tidegate.run("overload.toml", seed=1)
>>> r.flows, r.ports, r.events    # Polars frames
>>> r.summary                     # what `tidegate run --json` prints

>>> tidegate.flows("mine.pcap").frame       # the TCP connections of a packet capture

>>> c = tidegate.compare("overload.toml", gates=["none", "close-probe"], seeds=5)
>>> c.table, c.rows               # side by side, and one dict per run
>>> c.plot("pictures")

>>> s = tidegate.sweep("overload.toml", {"port.bottleneck.gate.rate": ["50/s", "100/s"]}, seeds=10)
>>> s.table, s.rows, s.frame      # averages, and one dict or row per run
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate._native import (
        Counts,
        Knobs,
        LawFault,
        RateCounts,
        RateKnobs,
        ScenarioError,
        View,
        __version__,
    )
    from tidegate.comparison import Comparison, compare
    from tidegate.errors import TidegateError, TidegateWarning
    from tidegate.replay import Flows, flows
    from tidegate.results import Result
    from tidegate.runner import Law, RateLaw
    from tidegate.scenario import Source
    from tidegate.sweeping import Sweep, sweep
    from tidegate.sweeping.merge import merge

__all__ = [
    "Comparison",
    "Counts",
    "Flows",
    "Knobs",
    "Law",
    "LawFault",
    "RateCounts",
    "RateKnobs",
    "RateLaw",
    "Result",
    "ScenarioError",
    "Sweep",
    "TidegateError",
    "TidegateWarning",
    "View",
    "__version__",
    "compare",
    "flows",
    "merge",
    "run",
    "sweep",
]

# Names are looked up when first used: `tidegate --help` need not load numpy.
_HOMES = {
    "Comparison": "tidegate.comparison",
    "Counts": "tidegate._native",
    "Flows": "tidegate.replay",
    "Knobs": "tidegate._native",
    "Law": "tidegate.runner",
    "LawFault": "tidegate._native",
    "RateCounts": "tidegate._native",
    "RateKnobs": "tidegate._native",
    "RateLaw": "tidegate.runner",
    "Result": "tidegate.results",
    "ScenarioError": "tidegate._native",
    "Sweep": "tidegate.sweeping",
    "TidegateError": "tidegate.errors",
    "TidegateWarning": "tidegate.errors",
    "View": "tidegate._native",
    "__version__": "tidegate._native",
    "compare": "tidegate.comparison",
    "flows": "tidegate.replay",
    "merge": "tidegate.sweeping.merge",
    "sweep": "tidegate.sweeping",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tidegate' has no attribute {name!r}")


def run(
    source: Source,
    *,
    seed: int = 1,
    settings: Mapping[str, object] | None = None,
    laws: Mapping[str, Law | RateLaw] | None = None,
) -> Result:
    """Run one scenario with one seed.

    `source` is a path, the text of a document or nested dicts; `settings`
    overrides single keys (`{"traffic.web.arrivals.poisson": "200/s"}`); `laws`
    maps names to laws of your own. Raises ScenarioError, TidegateError, and
    what a law of your own raises, with its traceback.
    """
    from tidegate.results import Result
    from tidegate.runner import simulate
    from tidegate.scenario import read

    return Result(simulate(read(source, settings).load(), seed, laws))
