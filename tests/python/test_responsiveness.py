"""Responsiveness under load: the formula of draft-ietf-ippm-responsiveness, by hand."""

import numpy as np
import pytest

import tidegate
from tidegate.results.responsiveness import of_class, per_minute, trimmed

LINK = """
name = "a page beside a download"
duration = "20s"
[topology.dumbbell]
pairs = 2
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "23ms", buffer = "BUFFER" }
[traffic.pages]
arrivals = { at = ["10s"] }
size = "1kB"
pages = { objects = 1, connections = 1, count = 5, think = "1s" }
transport = { tcp = { profile = "linux" } }
[traffic.load]
direction = "download"
arrivals = { at = ["0s"] }
size = "unlimited"
transport = { tcp = { profile = "linux", control = "cubic" } }
"""


# The draft: RPM = 60 / (1/6 (tcp + tls + http on a new connection) + 1/2 http on a loaded one), all
# in seconds. 40, 50 and 60 ms and 150 ms are 25 + 75 ms: 600 a minute.
def test_rpm_weighs_new_connections_as_loaded_ones():
    assert per_minute(0.04, 0.05, 0.06, 0.15) == pytest.approx(600.0)
    assert per_minute(0.1, 0.1, 0.1, 0.1) == pytest.approx(600.0)


# The highest five of a hundred are left out: the mean of 1 to 95 is 48.
def test_the_mean_leaves_out_the_highest_five_in_a_hundred():
    values = np.arange(1.0, 101.0)[::-1]
    assert trimmed(values) == 48.0
    assert trimmed(np.array([np.nan, 7.0])) == 7.0
    assert trimmed(np.array([np.nan])) is None


def test_the_loaded_connections_are_those_of_the_class_that_carried_most():
    page = {"page_answer_s": 0.1, "rtt_mean_s": 0.02, "delivered_bytes": 1e6}
    load = {"rtt_mean_s": 0.3, "delivered_bytes": 9e6}
    calls = {"delivered_bytes": 5e7, "rtt_mean_s": None}
    assert of_class(page, [page, load, calls]) == pytest.approx(60 / 0.2)
    assert of_class({**page, "page_answer_s": None}, [page]) is None


# A round trip of 50 ms: with a buffer that one CUBIC flow keeps between 0.5 and 1 s of 10 Mbit/s
# full, a page waits there as the load does, so RPM is near 60 / (0.05 + 0.5..1.0): 57 to 109. In a
# buffer of 10 ms nothing is above 60 ms but what is lost: 60 / 0.06 = 1000 at the least.
@pytest.mark.parametrize(("buffer", "low", "high"), [("1s", 57, 109), ("10ms", 1000, 1200)])
def test_a_full_buffer_costs_round_trips(buffer, low, high):
    run = tidegate.run(LINK.replace("BUFFER", buffer), settings={"warmup": "10s"})
    [pages] = [each for each in run.summary["classes"] if each["name"] == "pages"]
    assert low < pages["rpm"] < high
