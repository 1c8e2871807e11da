"""Every disagreement that is understood. docs/validation.md says the same at length."""

from __future__ import annotations

from tools.validate.judge import Explanation

TIES = (
    "one loss burst of 140 packets in slow start decides the whole row. In an ACK-clocked train a "
    "packet arrives at the very instant at which another leaves the full queue; tidegate lets it "
    "leave first, ns-2 lets the other arrive first, so different packets of the burst are lost and "
    "go-back-N repeats others."
)

SAME_RATE = (
    "hosts with links exactly as fast as the bottleneck make most arrivals at the full queue "
    "coincide with a departure, and the two order such pairs in opposite ways (see "
    "one-stream-red). "
    "In overload that decides who loses. With host links of 1 Gbit/s or 97 Mbit/s all measures "
    "agree within 3 %."
)

PIPE = (
    "ns-3 sets the threshold to half of what it takes to be in flight, less the lost segment and "
    "the three above it (RFC 6675, 5 step 4.2 and tidegate: half of all that is outstanding). Of a "
    "window of 20 segments that is 8 instead of 10."
)

EXPLANATIONS = (
    Explanation("one-stream-red", "retransmitted", 0.15, TIES),
    Explanation("power-220", "power", 0.20, SAME_RATE),
    Explanation("power-220", "fct_mean_s", 0.15, SAME_RATE),
    Explanation("power-220", "drops", 0.15, SAME_RATE),
    Explanation("reno-lossy", "goodput_mbit_s", 0.15, PIPE),
)
