"""A gate that admits two sessions a second, and a crowd that it holds back."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from tools.live.lateness import TooBusy

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from two_hosts import Lab

LAW = "law = { law = 'fixed-rate', rate = '2/s' }\nlease = '1s'\n"
TWO_A_SECOND = f"mode = 'enforce'\n{LAW}"
MANY = 40
FEW = 8  # four saved tokens, two of the second that the attempt takes, and a turn of an epoch
RENEWED_S = 1.5
"""The status is renewed at the end of an epoch, which is sooner."""


def at(hook: str) -> str:
    """Return the file of a gate that attaches its programs there."""
    return f"hook = '{hook}'\n{TWO_A_SECOND}"


def few_get_in(lab: Lab) -> bool:
    return lab.connect(MANY) <= FEW


def admitted(lab: Lab, attempt: Callable[[int], int] | None = None) -> int:
    """Return how many of a crowd get in where few should.

    TooBusy: more did, and the gate was so late that its lease had lapsed for some of them.
    """
    before = lab.lapsed()
    got = (attempt or lab.connect)(MANY)
    if got > FEW:
        time.sleep(RENEWED_S)
        if lapsed := lab.lapsed() - before:
            raise TooBusy(f"the gate renewed its lease too late for {lapsed} packets")
    return got


def refuses(lab: Lab) -> bool:
    return admitted(lab) <= FEW


def stop(gate: subprocess.Popen[str]) -> None:
    gate.send_signal(signal.SIGTERM)
    assert gate.wait(timeout=120) == 0
