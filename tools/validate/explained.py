"""Explanations of differences. docs/validation.md has them in short."""

from __future__ import annotations

from tools.validate.judge import Explanation

TIES = (
    "one burst of 140 losses in slow start decides the whole row. In an ACK-clocked train a "
    "packet arrives at the same instant at which another leaves the full queue. tidegate lets it "
    "leave first, ns-2 lets the other arrive first. So different packets of the burst are lost, "
    "and go-back-N repeats others."
)

SAME_RATE = (
    "the links of the hosts are exactly as fast as the bottleneck, so most arrivals at the full "
    "queue coincide with a departure. The two simulators order such pairs in opposite ways (see "
    "one-stream-red). In overload that decides who loses. With host links of 1 Gbit/s or "
    "97 Mbit/s all measures agree within 3 %."
)

FEW = (
    "chance. Of 300,378 sessions 746 complete in ns-2 and 781 in tidegate, and their goodput "
    "depends on which they are. In tidegate the same list from other hosts has 1.96 ± 0.09 kbit/s "
    "(eight runs): a standard deviation of 4.6 % for a single run, of which three are accepted."
)

NEWRENO = (
    "ns-3's NewReno adds MSS^2 / cwnd to its window for an acknowledgement, which at windows of "
    "five segments is a tenth less than a segment a round trip. At a loss it halves what it takes "
    "to be in flight, less the lost segment and the three above it. What recovery has repaired "
    "opens the window at its end. With these three corrected (RfcReno of controls.h) the same rows "
    "agree: see the case without -plain."
)

DRAWN = (
    "Linux draws each loss, and here a loss comes once the probabilities of the packets add up to "
    "one (recur of RFC 9332, appendix A). Losses at regular distances leave the queue steadier. "
    "With such sums in Linux's source it is within a tenth."
)

CREDIT = (
    "Linux keeps the credit of a queue while the other one is empty, and here it is forgotten then "
    "(RFC 9332 leaves the scheduler open). With it forgotten in Linux's source the row agrees."
)

EXPLANATIONS = (
    Explanation("one-stream-red", "retransmitted", 0.15, TIES),
    Explanation("power-220", "power", 0.20, SAME_RATE),
    Explanation("power-220", "fct_mean_s", 0.15, SAME_RATE),
    Explanation("power-220", "drops", 0.15, SAME_RATE),
    Explanation("sessions-1000", "goodput_mean_kbit_s", 0.138, FEW),
    Explanation("codel-ten-plain", "queue_mean", 0.15, NEWRENO),
    Explanation("codel-ten-plain", "drops", 0.30, NEWRENO),
    Explanation("codel-ten-plain", "retransmitted", 0.30, NEWRENO),
    Explanation("pie-ten-plain", "drops", 0.25, NEWRENO),
    Explanation("pie-ten-plain", "retransmitted", 0.25, NEWRENO),
    Explanation("dualpi2-heavy", "classic_wait_p95", 0.35, DRAWN),
    Explanation("dualpi2-light", "classic_wait_p95", 0.35, DRAWN),
    Explanation("dualpi2-overload", "l4s_wait_p95", 0.35, DRAWN),
    Explanation("dualpi2-light", "marked", 0.10, CREDIT),
    Explanation("dualpi2-overload", "classic_wait_mean", 0.75, CREDIT),
)
