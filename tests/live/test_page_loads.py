"""Page loads of a real client behind the emulated link, and those of the simulator."""

import shutil

import pytest
from tools.live.lateness import TooBusy
from tools.live.page_loads import DOCUMENT, PARALLEL, Load

from tidegate.hosts.lab import LabError, RanOut, obstacle

pytestmark = [pytest.mark.live, pytest.mark.slow]

TARGET = 0.10


def agree(load):
    """Hold the simulated page load to the quickest real one: what else the machine does only adds.

    Its requests follow each other on a connection; each of them takes a round trip.
    """
    if reason := obstacle(gate=False):
        pytest.skip(reason)
    try:
        real, late = load.real(5)
    except RanOut as reason:
        raise TooBusy(str(reason)) from None
    except LabError as reason:
        pytest.skip(str(reason))
    quickest, simulated = min(real), load.simulated()
    if simulated != pytest.approx(quickest, rel=TARGET):
        seen = f"simulated {simulated:.3f} s, real {quickest:.3f} s"
        late.excuse(load.requests, quickest * TARGET, seen)
    assert simulated == pytest.approx(quickest, rel=TARGET)


# The kernel's own TCP at both ends, and a client that knows nothing of the simulator. A page is a
# document, then 20 objects over so many connections, each of which has one request out at a time:
# 21, 5 and 11 requests, one after the other.
@pytest.mark.parametrize(
    ("control", "rate", "connections", "requests"),
    [
        ("cubic", "10Mbit", 1, 21),
        ("cubic", "10Mbit", 6, 5),
        ("cubic", "50Mbit", 2, 11),
        ("bbr", "50Mbit", 2, 11),
    ],
)
def test_pages_load_as_fast_as_between_real_hosts(control, rate, connections, requests):
    load = Load(DOCUMENT, control, rate, connections)
    assert load.requests == requests
    agree(load)


# The same 20 objects without a document, by curl, which keeps its connections.
def test_objects_load_as_fast_as_by_curl():
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed: apt-get install -y curl")
    agree(Load(PARALLEL, "cubic", "50Mbit", 2))
