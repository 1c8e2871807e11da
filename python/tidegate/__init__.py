"""A laboratory for congestion control in the network.

>>> r = tidegate.run("overload.toml", seed=1)
>>> r.flows, r.ports, r.events    # Polars frames
>>> r.summary                     # what `tidegate run --json` prints

>>> tidegate.flows("mine.pcap").frame       # the TCP connections of a packet capture

>>> c = tidegate.compare("overload.toml", gates=["none", "close-probe"], seeds=5)
>>> c.table, c.rows               # side by side, and one dict per run
>>> c.plot("pictures")
>>> c.frame, c.flows              # one row per run; one row per flow of all runs (with `out`)
>>> tidegate.load("out/demo")     # the same again, from its folder

>>> s = tidegate.sweep("overload.toml", {"port.bottleneck.gate.rate": ["50/s", "100/s"]}, seeds=10)
>>> s.table, s.rows, s.frame      # averages, and one dict or row per run
"""

# Not from `typing`, which takes milliseconds: tidegate.__main__ answers Ctrl-C as early as it can.
TYPE_CHECKING = False

if TYPE_CHECKING:
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
    from tidegate.api import (
        Comparison,
        Flows,
        Law,
        RateLaw,
        Result,
        Sweep,
        compare,
        flows,
        load,
        merge,
        run,
        sweep,
    )
    from tidegate.errors import TidegateError, TidegateWarning

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
    "load",
    "merge",
    "run",
    "sweep",
]

# Names are looked up when first used: `tidegate --help` need not load numpy.
_NATIVE = {"Counts", "Knobs", "LawFault", "RateCounts", "RateKnobs", "ScenarioError", "View"}
_NATIVE |= {"__version__"}
_ERRORS = {"TidegateError", "TidegateWarning"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'tidegate' has no attribute {name!r}")
    home = "_native" if name in _NATIVE else "errors" if name in _ERRORS else "api"
    return getattr(import_module(f"tidegate.{home}"), name)
