"""The bound on the wait of a client that never gives up, on real packets (docs/tide.md)."""

from dataclasses import dataclass, replace

import pytest
from tools.live import pages

from tidegate.hosts.lab import obstacle

pytestmark = [pytest.mark.live, pytest.mark.slow]

WAIT, SECONDS = 4, 25
LAST_TRY = 7.5
"""A SYN is sent again after 1, 3 and 7 s, by Linux from 6.5 on after 5 s too; and a round trip."""


@dataclass(frozen=True)
class Cell(pages.Cell):
    """Users who give up before they are overdue, and one of ten who does not."""

    def plan(self):
        return replace(super().plan(), patience=WAIT - 1, patient=10)


# A client that was refused for `wait` is let in at its next try, for a token of the reserve. The
# queue may lose the SYN that was admitted, of one in twenty in the simulator: two of them may.
def test_who_never_gives_up_is_let_in_at_the_first_try_when_overdue(monkeypatch):
    if reason := obstacle(gate=True):
        pytest.skip(reason)
    clients = f'{{ wait = "{WAIT}s", idle = "3s", dwell = "3s", turn = "1min" }}'
    law = f'{{ law = "tide", admit = "clients", clients = {clients} }}'
    monkeypatch.setitem(pages.LAWS, "tide by client", law)
    monkeypatch.setattr(pages, "LONGEST", LAST_TRY)
    waits = []
    real = pages.summary

    def summary(told, sent, cell):
        early = [row for row in told["rows"] if row["start_s"] < SECONDS - LAST_TRY]
        waits.extend(row.get("connected_s", SECONDS) for row in early if row["patient"])
        return real(told, sent, cell)

    monkeypatch.setattr(pages, "summary", summary)
    row = pages.measure(Cell("drop-tail", "tide by client", "steady", seconds=SECONDS))
    assert row["refused"] > 100
    assert len(waits) > 15
    assert any(wait > WAIT for wait in waits), "somebody was overdue"
    assert sum(wait > LAST_TRY for wait in waits) <= 2, sorted(waits)
