"""A capture of a port: a file beside the results, which other tools read."""

import json
import struct
from collections import Counter

import pytest

import tidegate as api


def packets(file):
    """Yield time (ns), bytes and length on the wire of every packet of a pcapng file.

    The blocks are those of the format's specification (draft-ietf-opsawg-pcapng).
    """
    content = file.read_bytes()
    place, interfaces = 0, 0
    while place < len(content):
        kind, whole = struct.unpack_from("<II", content, place)
        body = content[place + 8 : place + whole - 4]
        place += whole
        assert struct.unpack_from("<I", content, place - 4) == (whole,)
        if kind == 0x0A0D0D0A:
            assert struct.unpack_from("<IHH", body) == (0x1A2B3C4D, 1, 0)
        elif kind == 1:
            # link type: raw IP; option 9, of one byte: time in 10^-9 s
            assert struct.unpack_from("<H", body) == (101,)
            assert struct.pack("<HHB", 9, 1, 9) in body
            interfaces += 1
        elif kind == 6:
            number, high, low, held, length = struct.unpack_from("<IIIII", body)
            assert number < interfaces == 1
            yield (high << 32) + low, body[20 : 20 + held], length


@pytest.fixture
def capture(tidegate, overload_file):
    done = tidegate("run", overload_file, "--pcap", "bottleneck", "--json", "--set", "warmup=0s")
    assert done.returncode == 0, done.stderr
    folder = overload_file.parent / "out" / "small-overload-run"
    return json.loads(done.stdout), folder / "bottleneck.pcapng"


def test_a_capture_holds_what_the_port_sent(capture):
    summary, file = capture
    sent = list(packets(file))
    port = next(port for port in summary["ports"] if port["name"] == "bottleneck")
    assert len(sent) == port["departed"] > 1000
    assert [at for at, _, _ in sent] == sorted(at for at, _, _ in sent)
    assert sent[-1][0] <= 20 * 10**9
    bits = sum(length * 8 for _, _, length in sent)
    # what was started in the last moment is not through yet
    assert bits / 2e6 / 20 == pytest.approx(port["utilisation"], abs=1e-3)


def test_a_capture_belongs_to_the_results(capture):
    _, file = capture
    manifest = json.loads((file.parent / "manifest.json").read_text(encoding="utf-8"))
    assert "bottleneck.pcapng" in manifest["files"]


def test_a_captured_port_sends_the_same(tidegate, overload_file, capture):
    summary, _ = capture
    done = tidegate("run", overload_file, "--json", "--set", "warmup=0s")
    assert json.loads(done.stdout)["result_hash"] == summary["result_hash"]


def test_a_capture_can_be_replayed(capture, overload):
    """Every flow that was closed comes back with its very size."""
    _, file = capture
    flows = api.run(overload, settings={"warmup": "0s"}).flows
    closed = flows.filter(flows["closed_s"].is_not_null())["size_bytes"].to_list()
    assert len(closed) > 100
    lines = [line for line in overload.splitlines() if not line.startswith(("arrivals", "size"))]
    text = "\n".join([*lines, f'flows = "{file}"', ""])
    replayed = api.run(text, settings={"port.bottleneck.gate": "{ law = 'none' }"}).flows
    assert not Counter(closed) - Counter(replayed["size_bytes"].to_list())
