"""A laboratory for congestion control in the network.

>>> r = tidegate.run("overload.toml", seed=1)
>>> r.flows, r.ports, r.events    # Polars frames
>>> r.summary                     # what `tidegate run --json` prints

>>> tidegate.flows("mine.pcap").frame       # the connections of a packet capture

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
        Congestion,
        Counts,
        Decision,
        Draw,
        Found,
        Knobs,
        LawFault,
        Next,
        Packet,
        RateCounts,
        RateKnobs,
        Sample,
        ScenarioError,
        Signal,
        Slot,
        Tcp,
        Verdict,
        View,
        Waiting,
        __version__,
    )
    from tidegate.api import (
        Comparison,
        Flows,
        Result,
        Study,
        Sweep,
        compare,
        flows,
        load,
        merge,
        run,
        sweep,
    )
    from tidegate.errors import TidegateError, TidegateWarning
    from tidegate.results.laws import Control, Filter, Law, QueueLaw, RateLaw

__all__ = [
    "Comparison",
    "Congestion",
    "Control",
    "Counts",
    "Decision",
    "Draw",
    "Filter",
    "Flows",
    "Found",
    "Knobs",
    "Law",
    "LawFault",
    "Next",
    "Packet",
    "QueueLaw",
    "RateCounts",
    "RateKnobs",
    "RateLaw",
    "Result",
    "Sample",
    "ScenarioError",
    "Signal",
    "Slot",
    "Study",
    "Sweep",
    "Tcp",
    "TidegateError",
    "TidegateWarning",
    "Verdict",
    "View",
    "Waiting",
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
_NATIVE |= {"Decision", "Draw", "Found", "Next", "Packet", "Slot", "Verdict", "Waiting"}
_NATIVE |= {"Congestion", "Sample", "Signal", "Tcp", "__version__"}
_LAWS = {"Control", "Filter", "Law", "QueueLaw", "RateLaw"}
_ERRORS = {"TidegateError", "TidegateWarning"}
_HOMES = {"_native": _NATIVE, "results.laws": _LAWS, "errors": _ERRORS}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'tidegate' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "api")
    found: object = getattr(import_module(f"tidegate.{home}"), name)
    globals()[name] = found  # a law says `tidegate.Verdict.PASS` for every packet
    return found


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__"]
