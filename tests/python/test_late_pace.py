"""A control in Python that learns its pace during the flow."""

import math

import pytest

import tidegate
from test_packet_laws import LINK, MINE, control


class Slots:
    """An object without a dictionary of its own."""

    __slots__ = ("cwnd", "gap_s", "ssthresh")

    def __init__(self, tcp):
        self.cwnd = 10.0

    def on_ack(self, sample):
        self.cwnd, self.gap_s = 1000.0, 0.01

    def on_congestion(self, signal, at):
        pass

    def on_timeout(self, at, again):
        pass


def late(self, sample):
    self.cwnd, self.gap_s = 1000.0, 0.01


# a pace is often known only after the first round trip
@pytest.mark.parametrize("mine", [control(on_ack=late), Slots])
def test_a_pace_may_come_late(mine):
    """1460 B each 10 ms for 12 s are 1200 segments; bursts of 1000 would lose most of theirs."""
    text = LINK[: LINK.index("[traffic.web]")]
    run = tidegate.run(text, settings={"traffic.long.transport": MINE}, laws={"mine": mine})
    assert run.flows["delivered_bytes"].to_list()[0] / 1460 == pytest.approx(1200, rel=0.05)


def test_a_pace_that_comes_late_is_checked():
    def wrong(self, sample):
        self.gap_s = math.nan

    given = {"mine": control(on_ack=wrong)}
    with pytest.raises(ValueError, match="`gap_s` must be") as caught:
        tidegate.run(LINK, settings={"traffic.web.transport": MINE}, laws=given)
    assert "in `on_ack`" in "".join(caught.value.__notes__)
