"""How a call over a path sounds: the E-model of ITU-T G.107, with its default parameters.

The codec is G.711 with concealment of lost packets (ITU-T G.113, appendix I). Echo is cancelled, so
of the delay only its own impairment counts (Idd). Losses are independent of each other.
"""

from __future__ import annotations

import math

R_DEFAULT = 93.2
"""R without delay and loss (G.107, with all parameters at their defaults)."""
EQUIPMENT = 0.0
"""Ie of G.711 (G.113)."""
ROBUSTNESS = 25.1
"""Bpl of G.711 with concealment of lost packets (G.113)."""
NOTICED_MS = 100.0
"""Delays up to this do not count (G.107, 7.4)."""


def rating(lost_share: float, delay_s: float) -> float:
    """Return R of G.107 for a share of lost packets and a delay from mouth to ear in seconds."""
    percent = 100.0 * lost_share
    loss = EQUIPMENT + (95.0 - EQUIPMENT) * percent / (percent + ROBUSTNESS)
    return R_DEFAULT - _of_delay(1e3 * delay_s) - loss


def _of_delay(delay_ms: float) -> float:
    """Return Idd of G.107."""
    if delay_ms <= NOTICED_MS:
        return 0.0
    x = math.log2(delay_ms / NOTICED_MS)
    return float(25.0 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2))


def opinion(r: float) -> float:
    """Return the mean opinion score, 1 to 4.5, of a rating R (G.107, annex B)."""
    if r <= 0.0:
        return 1.0
    if r >= 100.0:
        return 4.5
    return 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6


def mean_opinion(lost_share: float | None, delay_s: float | None) -> float | None:
    """Return the mean opinion score of a call; None where nothing was sent, or all is under way."""
    if lost_share == 1.0:
        return 1.0
    if lost_share is None or delay_s is None:
        return None
    return max(1.0, opinion(rating(lost_share, delay_s)))
