"""The search over parameters that the paper on dual queues does not give (`--search`).

Scored on the four cells of Table II only.
"""

from __future__ import annotations

from itertools import product

from tidegate.papers.case import ParameterSearch, parameter
from tidegate.papers.deviations import Alternative

LINKS = ("link1", "link2")
CLASSES = ("first", "second", "third")
GR2 = '{ law = "red", min_th = 15, max_th = 45, max_p = 0.1, mean_packet = "576B" }'


def _queues(label: str, key: str, value: str) -> Alternative:
    settings = tuple((f"port.{link}.queue.{key}", value) for link in LINKS)
    return Alternative(label, settings, ("tandem/p3",))


def _packets(payload: int) -> Alternative:
    each = (("transport.tcp.mss", f"{payload}B"), ("size.exponential.mean", f"{20 * payload}B"))
    settings = tuple(
        (f"traffic.{name}.{key}", value) for name, (key, value) in product(CLASSES, each)
    )
    return Alternative(f"{payload} B", settings, ("tandem/*",))


def _profile(name: str) -> Alternative:
    settings = tuple((f"traffic.{each}.transport.tcp.profile", name) for each in CLASSES)
    return Alternative(name, settings, ("tandem/*",))


CHOICES = (
    ParameterSearch(
        title="Table II",
        scored=("table2.gred", "table2.p3"),
        together=(
            parameter(
                "P3 over",
                _queues("drop-tail", "over", '{ law = "drop-tail" }'),
                _queues("G-R2", "over", GR2),
            ),
            parameter(
                "x counts",
                _queues("data", "counts", "data"),
                _queues("connection packets too", "counts", "all"),
            ),
            parameter("payload", _packets(536), _packets(576)),
        ),
        alone=(
            parameter("ns-2", *map(_profile, ("ns2-2001", "ns2-2005", "ns2-2006"))),
            parameter("buffers of P3", _queues("one", "queues", "1")),
            parameter("x", _queues("at this moment", "measure", "instantaneous")),
        ),
        columns=(
            ("G-RED: s, sent again", ("table2.gred.D", "table2.gred.rtx")),
            ("P3: s, sent again", ("table2.p3.D", "table2.p3.rtx")),
        ),
        seeds=5,
    ),
)
