"""The corrections of ns-3 in tools/validate: one flow, listed losses, results worked by hand."""

import shutil
from dataclasses import dataclass
from itertools import pairwise

import pytest
from tools.peers.install import BUILD
from tools.validate import ns3


@dataclass(frozen=True)
class Departure:
    """A data packet that leaves: with so much in flight before it, and under this window."""

    time: float
    number: int
    flight: int
    window: int


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not (BUILD / "ns3" / ".installed").exists():
        pytest.skip("ns-3 is not installed: make test-tools")
    if shutil.which("g++") is None:
        pytest.skip("ns-3's programs take a compiler: apt-get install -y g++")
    ns3.build()


def sent(lost: str, until: float, size: int = -1, **settings: str) -> list[Departure]:
    """Return what a flow sends from time 0 over 10 Mbit/s and 50 ms while `lost` is lost."""
    network = {"rate": "10Mbps", "delay": "23ms", "buffer": "1000", "queue": "Fifo", "sack": "1"}
    said = network | {"control": "RfcReno", "sent": "1", "lost": lost, "until": str(until)}
    [flow] = ns3.run([(0.0, size)], said | settings)["flows"]
    return [Departure(time, *map(round, rest)) for time, *rest in flow["sent"]]


def numbers(departures: list[Departure]) -> list[int]:
    return [each.number for each in departures]


# RFC 6675, section 4 (SetPipe), by hand: of ten segments 0 and 1 are lost, and 0 once more. Two
# duplicates let out 10 and 11. The third begins recovery: 12 outstanding, 3 of them there and 2
# lost, so 7 in flight, and 0 goes; half of the window is 5. Three duplicates later 4 are in flight
# and 1 goes, then 12, 13 and 14. What waits for 0 is acknowledged by blocks, the second
# transmission of 1 too: of 5 in flight 4 arrive in a round trip, and each lets out another.
def test_a_repair_that_has_arrived_is_not_in_flight() -> None:
    corrected = sent("0 0 1", 0.25)
    assert numbers(corrected) == [*range(12), 0, 1, *range(12, 21)]
    assert [each.flight for each in corrected[10:]] == [9, 9, 7, *[4] * 10]
    assert {each.window for each in corrected[12:]} == {5}
    # ns-3 counts 1 until 0 is acknowledged: three in a round trip
    assert numbers(sent("0 0 1", 0.25, corrected="0")) == [*range(12), 0, 1, *range(12, 19)]


# RFC 6675, section 5, step 4.3: HighRxt starts anew. Of twenty 0 and 19 are lost, which makes a
# recovery up to 21 that ends with 19. 24 and 25 are sent in it, lost, sent again in it and lost
# again. The next begins with 24, and then 25 is lost as before: both go a third time. The timer
# expires after a second at the earliest.
def test_what_was_repaired_is_repaired_in_the_next_recovery() -> None:
    lost = "0 19 24 24 25 25"
    corrected = numbers(sent(lost, 0.45, initial_window="20"))
    assert (corrected.count(24), corrected.count(25)) == (3, 3)
    plain = numbers(sent(lost, 0.45, initial_window="20", corrected="0"))
    assert (plain.count(24), plain.count(25)) == (3, 2)


# RFC 6675, section 4 (NextSeg, rule 4): of ten segments, all there are, 1, 7 and 9 are lost, and 7
# once more. Blocks tell of 2 to 6 and of 8: 1 is lost (rule 1), 7 may be (rule 3). When all up to
# 6 is acknowledged nothing else can go, and 9 does. After a second the timer would expire.
def test_the_last_segment_is_rescued() -> None:
    assert numbers(sent("1 7 7 9", 0.9, 14600)) == [*range(10), 1, 7, 9]
    assert numbers(sent("1 7 7 9", 0.9, 14600, corrected="0")) == [*range(10), 1, 7]


# The same, where ns-3 has sent the last segment already when all up to 7 is acknowledged.
def test_the_last_segment_is_rescued_once() -> None:
    assert numbers(sent("1 8 9", 5, 14600)) == [*range(10), 1, 8, 9]


# RFC 5681, section 2: nothing goes beyond what is acknowledged and a window. Segment 0 is lost,
# its repair is lost, and after a second what the timer sends is lost too; the timer then waits two
# seconds. Hundreds have been sent behind it, and what arrives of them opens BBR's window, by less
# than a hundred.
def test_a_timeout_stops_what_is_ahead_of_the_window() -> None:
    def after_timeout(corrected: str) -> list[Departure]:
        departures = sent("0 0 0", 2.5, control="RfcBbr", corrected=corrected)
        zeros = [place for place, each in enumerate(departures) if each.number == 0]
        assert len(zeros) == 3
        timer = zeros[-1]
        assert departures[timer - 1].number > 500
        assert (departures[timer].flight, departures[timer].window) == (0, 1)
        return departures[timer + 1 :]

    assert after_timeout("1") == []
    assert all(each.number > each.window for each in after_timeout("0"))
    assert len(after_timeout("0")) > 500


# BBR's draft, 4.2.3.4: a recovery ends with the window of before. In startup 30 is lost, with a
# window of 42; while it is repaired what arrives is what leaves, so the window stays within three
# segments of 42, and it grows by what is acknowledged from there on. The pipe is not full.
def test_bbr_comes_out_of_recovery_with_its_window() -> None:
    def steps(control: str) -> list[int]:
        windows = [each.window for each in sent("30", 0.3, control=control)]
        assert windows[70] == 42
        return [later - one for one, later in pairwise(windows)]

    assert max(map(abs, steps("RfcBbr"))) <= 3
    # its own puts an unset slow-start threshold in its place: 2^32 bytes
    assert max(steps("Bbr")) > 2_000_000


# BBR's draft, 4.2.1: the first window too is paced, at 2.89 windows in a round trip, which the
# handshake has measured: ten segments, one each 50 ms / 28.9.
def test_the_first_window_is_paced() -> None:
    times = [each.time for each in sent("", 0.09, control="RfcBbr")]
    gaps = [later - one for one, later in pairwise(times)]
    assert gaps == pytest.approx([0.050 / 28.9] * 9, rel=0.01)
