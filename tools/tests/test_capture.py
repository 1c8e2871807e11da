"""The capture that ships is what its script transferred."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tools.make_capture import NOBODY, OVER_S, planned

import tidegate

CAPTURE = Path(__file__).parents[2] / "scenarios" / "captures" / "narrow-link.pcap"


def test_it_is_small() -> None:
    assert CAPTURE.stat().st_size < 200_000


def test_flows_are_the_transfers_byte_for_byte() -> None:
    found = tidegate.flows(CAPTURE)
    plan = [transfer for transfer in planned() if transfer.port != NOBODY]
    expected = sorted((transfer.upload, transfer.size_bytes) for transfer in plan)
    rows = found.frame.to_dicts()
    assert sorted((row["direction"] == "upload", row["size_bytes"]) for row in rows) == expected
    # a request of "GET ...\n" or an answer of "OK\n" went the other way
    requests = sum(3 if transfer.upload else len(transfer.request) for transfer in plan)
    assert found.frame["other_bytes"].sum() == requests
    assert all(row["closed"] for row in rows)
    assert found.broken is None
    # the call that nobody took
    assert found.skipped == {"connection without data": 1}


def test_flows_start_when_the_transfers_did() -> None:
    wanted = defaultdict(list)
    plan = [transfer for transfer in planned() if transfer.port != NOBODY]
    for transfer in plan:
        wanted[transfer.upload, transfer.size_bytes].append(transfer.start_s)
    rows = tidegate.flows(CAPTURE).frame.to_dicts()
    for row in rows:
        start_s = wanted[row["direction"] == "upload", row["size_bytes"]].pop(0)
        # on a busy machine a call comes a little late
        assert abs(row["start_s"] + plan[0].start_s - start_s) < 0.1
    assert rows[-1]["start_s"] > 0.9 * OVER_S


def test_segments_were_lost_behind_the_capture_and_sent_again() -> None:
    found = tidegate.flows(CAPTURE)
    carried = sum(row["size_bytes"] + row["other_bytes"] for row in found.frame.to_dicts())
    # some 37 segments of the 420 or so are there twice
    assert sum(data_lengths(CAPTURE.read_bytes())) > 1.05 * carried


def data_lengths(capture: bytes) -> Iterator[int]:
    """Yield the data of every TCP segment, by the lengths in its headers."""
    place = 24
    while place < len(capture):
        kept = int.from_bytes(capture[place + 8 : place + 12], "little")
        packet = capture[place + 16 + 14 : place + 16 + kept]
        place += 16 + kept
        if packet[0] >> 4 == 4:
            header = (packet[0] & 15) * 4
            length = int.from_bytes(packet[2:4], "big")
        else:
            header = 40
            length = 40 + int.from_bytes(packet[4:6], "big")
        yield length - header - (packet[header + 12] >> 4) * 4
