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

ONE_REPAIR = (
    "ns-2's one-way agents repair one loss of a window by duplicates and leave a second one to the "
    "timer (bugFix_); the paper's settings here have FullTcp's rule, which repairs each. A window "
    "of 600 packets loses two often: 73 timeouts in 60 s in ns-2, 21 here. With loss_rule = "
    "'one-way' there are 71 here, and 45.5 Mbit/s: 8 % more than in ns-2."
)

EXPLANATIONS = (
    Explanation("one-stream-red", "retransmitted", 0.15, TIES),
    Explanation("power-220", "power", 0.20, SAME_RATE),
    Explanation("power-220", "fct_mean_s", 0.15, SAME_RATE),
    Explanation("power-220", "drops", 0.15, SAME_RATE),
    Explanation("xcp-losses", "data_loss_0.1%", 0.35, ONE_REPAIR),
)
