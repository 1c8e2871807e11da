"""The user's own traffic: captures listed, and replayed as any table of the same flows."""

import json
import shutil
import struct
from pathlib import Path

import polars as pl
import pytest

import tidegate
import tidegate as tidegate_python
from tidegate.errors import TidegateWarning

CAPTURE = Path(__file__).parents[2] / "scenarios" / "captures" / "narrow-link.pcap"
KEYS = ["start_s", "size_bytes", "direction", "client", "server", "closed", "transport"]

REPLAY = """\
name     = "replay"
duration = "4s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "800kbit", delay = "20ms" }

[traffic.mine]
flows = "capture.pcap"
"""


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A copy of the shipped capture, beside a scenario that replays it."""
    (tmp_path / "replay.toml").write_text(REPLAY, encoding="utf-8")
    return Path(shutil.copy(CAPTURE, tmp_path / "capture.pcap"))


def test_the_table_says_what_was_found_and_what_was_left_out(tidegate, capture):
    done = tidegate("flows", capture)
    assert done.returncode == 0, done.stderr
    for text in ("capture.pcap", "connections with data", "p90", "First 10 of 110", "[2001:db8::"):
        assert text in done.stdout
    assert "connection without data" in done.stdout
    assert '[traffic.mine] flows = "' in done.stderr
    # as many rows as are asked for
    shown = tidegate("flows", capture, "--rows", "3").stdout
    assert "First 3 of 110" in shown
    assert shown.count(":8080") == 3


def test_json_is_the_flows_and_what_was_skipped_and_nothing_else(tidegate, capture):
    done = tidegate("flows", capture, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert list(document) == ["flows", "skipped", "skipped_bytes", "wire_bytes"]
    # the generating script made 110 transfers and one call that was refused
    assert len(document["flows"]) == 110
    assert document["skipped"] == {"connection without data": 1}
    assert all(list(flow) == KEYS for flow in document["flows"])
    first = document["flows"][0]
    assert first["start_s"] == 0.0
    assert first["size_bytes"] == 5040
    assert (first["direction"], first["closed"]) == ("download", True)
    assert first["server"] == "192.0.2.2:8080"
    assert {flow["server"] for flow in document["flows"]} == {
        "192.0.2.2:8080",
        "[2001:db8::2]:8080",
    }


def udp_packet(data: int, first: int) -> bytes:
    """A record of a pcap file: Ethernet, IPv4, UDP to port 443 and so many bytes.

    With a first byte of 0x40 it is a packet of QUIC with a short header (RFC 9000, 17.3.1).
    """
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 28 + data, 0, 0, 64, 17, 0, b"\xc0\0\2\1", b"\xc0\0\2\2"
    )
    frame = bytes(12) + b"\x08\0" + ip + struct.pack(">HHHH", 50000, 443, 8 + data, 0)
    frame += bytes([first]) + bytes(data - 1)
    return struct.pack("<IIII", 1_795_259_865, 0, len(frame), len(frame)) + frame


def test_what_share_of_the_bytes_is_in_no_flow_is_said(tidegate, capture):
    """1000 packets of 1442 B of UDP are 65 % of the bytes beside some 770 kB of TCP."""
    before = tidegate_python.flows(capture)
    assert before.left_out is None
    capture.write_bytes(capture.read_bytes() + 1000 * udp_packet(1400, 0))
    found = tidegate_python.flows(capture)
    share = 1_442_000 / (before.wire_bytes + 1_442_000)
    assert found.wire_bytes == before.wire_bytes + 1_442_000
    said = f"{share:.0%} of the bytes are in no flow (UDP: {share:.0%})"
    assert found.left_out == said
    done = tidegate("flows", capture)
    assert f"{said}.\nA scenario replays connections alone." in done.stderr
    with pytest.warns(TidegateWarning, match=r"are in no flow \(UDP"):
        tidegate_python.run(capture.with_name("replay.toml"), settings={"duration": "1s"})


def test_connections_of_quic_are_flows_whose_sizes_are_estimated(tidegate, capture):
    """1000 packets of 1400 B, 30 B of each no data, are an upload of 1.37 MB."""
    before = tidegate_python.flows(capture)
    assert before.estimated is None
    capture.write_bytes(capture.read_bytes() + 1000 * udp_packet(1400, 0x40))
    found = tidegate_python.flows(capture)
    quic = found.frame.filter(pl.col("transport") == "quic")
    assert quic["size_bytes"].to_list() == [1_370_000]
    assert quic["direction"].to_list() == ["upload"]
    assert found.left_out is None
    share = 1_370_000 / (before.frame["size_bytes"].sum() + 1_370_000)
    said = f"1 of {before.frame.height + 1} flows are connections of QUIC, with {share:.0%}"
    done = tidegate("flows", capture)
    assert said in done.stderr
    with pytest.warns(TidegateWarning, match="are connections of QUIC"):
        result = tidegate_python.run(capture.with_name("replay.toml"), settings={"duration": "1s"})
    assert 1_370_000 in result.flows["size_bytes"].to_list()


def test_json_of_many_flows_is_one_object(monkeypatch):
    found = tidegate.flows(CAPTURE)
    whole = "".join(found.json())
    monkeypatch.setattr("tidegate.scenario.recorded._ROWS_AT_ONCE", 7)
    assert "".join(found.json()) == whole
    assert json.loads(whole)["flows"] == found.frame.select(KEYS).to_dicts()


def test_a_capture_and_its_tables_are_the_same_traffic(tidegate, capture):
    folder = capture.parent
    assert tidegate("flows", capture, "--csv", folder / "flows.csv").returncode == 0
    frame = pl.read_csv(folder / "flows.csv")
    assert frame.columns == KEYS
    frame.write_parquet(folder / "flows.parquet")
    hashes = set()
    for name in ("capture.pcap", "flows.csv", "flows.parquet"):
        done = tidegate("run", "replay.toml", "--json", "--set", f"traffic.mine.flows={name}")
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        hashes.add(summary["result_hash"])
        # connections that began within the 4 s that are simulated
        assert summary["classes"][0]["arrived"] == frame.filter(pl.col("start_s") < 4).height
    assert len(hashes) == 1


def test_flows_start_and_carry_what_they_did_in_the_capture(capture):
    result = tidegate.run(capture.parent / "replay.toml", settings={"duration": "11s"})
    found = tidegate.flows(capture)
    assert result.flows["start_s"].to_list() == pytest.approx(
        found.frame["start_s"].to_list(), abs=1e-9
    )
    assert result.flows["size_bytes"].to_list() == found.frame["size_bytes"].to_list()


def test_a_comparison_reads_a_capture_once(capture, monkeypatch):
    reads = []
    real = tidegate._native.Capture
    monkeypatch.setattr("tidegate._native.Capture", lambda: reads.append(1) or real())
    scenario = capture.parent / "replay.toml"
    compared = tidegate.compare(scenario, gates=["none", "fixed-rate:5"], seeds=1)
    assert len(compared.rows) == 2
    assert len(reads) == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"start_s,size_bytes\n1,2\n", '73 74 61 72 ("star")'),
        (b"", "it is empty"),
        (b"\x1f\x8b\x08\x00 and so on", "gunzip"),
        (b"\xd4\xc3\xb2\xa1\x02\x00", "ends within its header"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1), "neither TCP nor QUIC in this"),
    ],
)
def test_what_gives_no_flows_is_said_without_a_traceback(tidegate, tmp_path, content, says):
    (tmp_path / "strange").write_bytes(content)
    done = tidegate("flows", "strange")
    assert done.returncode == 1
    assert says in done.stderr
    assert "strange" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_not_there_is_named(tidegate):
    done = tidegate("flows", "nowhere.pcap")
    assert done.returncode == 1
    assert "nowhere.pcap: No such file" in done.stderr


def test_a_cut_capture_gives_what_was_read_and_says_so(tidegate, capture):
    whole = capture.read_bytes()
    capture.write_bytes(whole[:100_003])
    done = tidegate("flows", capture, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert 50 < len(document["flows"]) < 110
    assert document["skipped"]["record damaged or cut off"] == 1
    assert "cut off in the middle of a record at byte" in done.stderr
    done = tidegate("run", "replay.toml", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["classes"][0]["arrived"] > 0
    assert "capture.pcap: the file is cut off" in done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("start_s,size_bytes\n1,2\n2,none\n", "flows.csv, line 3: `size_bytes` cannot be `none`"),
        ("when,size_bytes\n1,2\n", "flows.csv, line 1: there is no column `start_s`"),
        ("start_s,size_bytes\n", "there are no flows in flows.csv"),
    ],
)
def test_a_wrong_table_is_shown_in_its_line(tidegate, capture, table, says):
    (capture.parent / "flows.csv").write_text(table, encoding="utf-8")
    done = tidegate("run", "replay.toml", "--set", "traffic.mine.flows=flows.csv")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_parquet_without_the_columns_or_the_format_is_said(tidegate, capture):
    table = capture.parent / "flows.parquet"
    run = ("run", "replay.toml", "--set", "traffic.mine.flows=flows.parquet")
    pl.DataFrame({"start": [1.0], "size_bytes": [5]}).write_parquet(table)
    done = tidegate(*run)
    assert done.returncode == 2
    assert "no column `start_s`" in done.stderr
    assert "columns here: start, size_bytes" in done.stderr
    pl.DataFrame({"start_s": [1.0, None], "size_bytes": [5, 5]}).write_parquet(table)
    assert "`start_s` is empty" in tidegate(*run).stderr
    table.write_bytes(b"PAR1 and then nothing")
    done = tidegate(*run)
    assert done.returncode == 1
    assert "Could not read the table" in done.stderr
    assert "Traceback" not in done.stderr


def test_sizes_of_parquet_may_be_of_any_number_type(capture):
    table = capture.parent / "flows.parquet"
    frame = pl.DataFrame({"size_bytes": [5000.0, 700.5], "start_s": [1, 0]})
    frame.write_parquet(table)
    result = tidegate.run(
        capture.parent / "replay.toml", settings={"traffic.mine.flows": "flows.parquet"}
    )
    # whole bytes, rounded up, by start
    assert result.flows["size_bytes"].to_list() == [701.0, 5000.0]
