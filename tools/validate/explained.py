"""Every disagreement that is understood. docs/validation.md says the same at length."""

from __future__ import annotations

from tools.validate.judge import Explanation

TIES = (
    "one loss burst of 140 packets in slow start decides the whole row. In an ACK-clocked train a "
    "packet arrives at the very instant at which another leaves the full queue; tidegate lets it "
    "leave first, ns-2 lets the other arrive first, so different packets of the burst are lost and "
    "go-back-N repeats others."
)

EXPLANATIONS = (Explanation("one-stream-red", "retransmitted", 0.15, TIES),)
