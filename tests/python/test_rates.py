"""Explicit rates from Python: a law of one's own over a stamp, and what comes of it."""

import pytest

import tidegate

LINK = """
name = "rates"
duration = "5s"
[topology.dumbbell]
pairs = 2
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "18ms" }
[port.bottleneck]
stamp = { law = "python", name = "mine", half = "grant" }
[traffic.long]
arrivals = { at = ["0s", "0s"] }
size = "unlimited"
transport = { qfcp = { mss = "960B" } }
"""


class Fixed:
    """Grants one rate, and notes what it is told."""

    def __init__(self, rate_bps):
        self.rate_bps = rate_bps
        self.told = []

    def start(self, now_s, knobs):
        knobs.rate_bps = self.rate_bps
        return now_s + 0.5

    def update(self, now_s, view, counts, knobs):
        self.told.append((view.rate_bps, counts.bytes, counts.mean_rtt_s, counts.dropped_bytes))
        return now_s + 0.5


def test_a_law_in_python_sets_the_rate():
    law = Fixed(2e6)
    result = tidegate.run(LINK, laws={"mine": law})
    # two flows at 2 Mbit/s, headers included: 480 of 500 kB of payload in 2 s, and the handshake
    delivered = result.flows["delivered_bytes"]
    assert delivered.to_list() == pytest.approx([1_190_000] * 2, rel=0.01)
    rate, octets, rtt, lost = law.told[4]
    assert (rate, lost) == (10_000_000, 0)
    assert octets == pytest.approx(250_000, rel=0.01)  # 4 Mbit/s for half a second
    assert rtt == pytest.approx(0.041, abs=0.001)
    events = result.events
    assert set(events["law"].cast(str)) == {"mine"}
    assert set(events["set"]) == {2e6}


def test_without_a_rate_there_is_no_limit():
    law = Fixed(1e12)
    flows = tidegate.run(LINK, laws={"mine": law}).flows
    # no port limits it: the initial window stays, as where nobody stamps
    assert flows["retransmitted_packets"].to_list() == [0, 0]


def test_a_law_that_was_not_handed_in_is_asked_for():
    with pytest.raises(tidegate.ScenarioError, match="mine"):
        tidegate.run(LINK)


def test_an_exception_ends_the_run_with_its_traceback():
    class Broken(Fixed):
        def update(self, now_s, view, counts, knobs):
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        tidegate.run(LINK, laws={"mine": Broken(1e6)})


def test_a_rate_must_be_a_number():
    with pytest.raises(TypeError):
        tidegate.run(LINK, laws={"mine": Fixed("fast")})


def test_a_flow_without_end_that_was_stopped_has_no_size_in_the_summary():
    text = LINK.replace('size = "unlimited"', 'size = "unlimited"\nstop = "2s"')
    summary = tidegate.run(text, laws={"mine": Fixed(2e6)}).summary["all"]
    assert (summary["completed"], summary["size_mean_bytes"]) == (2, None)
    assert summary["delivered_bytes"] == pytest.approx(2 * 480_000, rel=0.03)
