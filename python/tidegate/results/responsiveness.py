"""How many round trips a minute a loaded path allows: RPM of draft-ietf-ippm-responsiveness.

The draft asks its own probes: on new connections the handshakes of TCP and TLS and one small
answer of HTTP, and one such answer on the connections that load the path. Each is the mean of its
lowest 95 in 100. Half of the weight is that of the loaded connections.

Here nobody probes. What stands in for the probes:

- for the three on new connections, the answers to the first request of each page: its connection
  has not sent for a while, and a handshake takes a round trip as an answer does;
- for that on a loaded connection, the mean round trip that senders measured in the class that
  carried most, with nothing left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

KEPT = 0.95
"""The part of the values, from the lowest, that a trimmed mean is of."""


def trimmed(values: NDArray[np.float64]) -> float | None:
    """Return the mean of the lowest 95 in 100, of one value at least; None of none."""
    known = np.sort(values[~np.isnan(values)])
    return float(np.mean(known[: max(1, int(KEPT * known.size))])) if known.size else None


def per_minute(tcp_s: float, tls_s: float, foreign_s: float, own_s: float) -> float:
    """Return the RPM of handshakes of TCP and TLS and answers on new and on loaded connections."""
    return 60.0 / ((tcp_s + tls_s + foreign_s) / 6 + own_s / 2)


def of_class(found: Mapping[str, Any], classes: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the RPM of a class with pages, beside the load of all classes."""
    answer = found.get("page_answer_s")
    measured = [each for each in classes if each.get("rtt_mean_s") is not None]
    if answer is None or not measured:
        return None
    most = max(measured, key=lambda each: float(each["delivered_bytes"]))
    return per_minute(answer, answer, answer, float(most["rtt_mean_s"]))
