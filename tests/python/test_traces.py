"""Traces: the state of a sender at every acknowledgement, and packets for Wireshark."""

import json
import shutil
import subprocess

import polars as pl
import pytest

import tidegate as api

TRACED = ("cwnd_packets", "ssthresh_packets", "srtt_s", "flight_bytes")


@pytest.mark.slow
def test_a_flow_is_traced_and_drawn(tidegate, overload_file):
    done = tidegate(
        "run", overload_file, "--trace-flow", "web:0", "--trace-flow", "web:7", "--json"
    )
    assert done.returncode == 0, done.stderr
    folder = overload_file.parent / "out" / "small-overload-run"
    table = pl.read_parquet(folder / "acks.parquet")
    assert set(table["number"]) == {0, 7}
    assert set(TRACED) <= set(table.columns)
    # every byte of a flow that came to its end was acknowledged
    flows = pl.read_parquet(folder / "flows.parquet")
    last = table.group_by("flow").last().join(flows, on="flow").drop_nulls("closed_s")
    assert last.height >= 1
    assert last["acked_bytes"].to_list() == last["size_bytes"].to_list()
    pictures = {"acks.png", "acks.svg"}
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert pictures | {"acks.parquet"} <= set(manifest["files"])
    assert all((folder / name).stat().st_size > 1000 for name in pictures)
    assert api.load(folder).acks.equals(table)


def test_a_trace_changes_no_result(overload):
    """The digest of a run is about its flows, ports and decisions: watching changes none."""
    plain = api.run(overload)
    traced = api.run(overload, settings={"series.acks": ["web:0"]})
    assert plain.acks.is_empty()
    assert traced.acks.height > 0
    assert traced.summary["result_hash"] == plain.summary["result_hash"]


def test_flows_of_the_file_are_traced_too(tidegate, overload_file):
    text = overload_file.read_text(encoding="utf-8") + '\n[series]\nacks = ["web:1"]\n'
    overload_file.write_text(text, encoding="utf-8")
    assert tidegate("run", overload_file, "--trace-flow", "web:0").returncode == 0
    folder = overload_file.parent / "out" / "small-overload-run"
    assert set(pl.read_parquet(folder / "acks.parquet")["number"]) == {0, 1}


@pytest.mark.parametrize(
    ("flow", "says"), [("web", "`web` names no flow"), ("wbe:0", "did you mean `web`")]
)
def test_a_flow_that_is_none_is_refused(tidegate, overload_file, flow, says):
    done = tidegate("run", overload_file, "--trace-flow", flow)
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.slow
def test_the_page_shows_the_trace(tidegate, overload_file):
    tidegate("run", overload_file, "--trace-flow", "web:0", "--out", "traced")
    assert tidegate("report", "traced").returncode == 0
    page = (overload_file.parent / "traced" / "report.html").read_text(encoding="utf-8")
    assert "Senders at every acknowledgement" in page


def test_wireshark_reads_what_a_port_sent(tidegate, overload_file):
    """Tshark counts the packets, bytes and connections that the simulator counted."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed: apt-get install -y tshark")
    done = tidegate("run", overload_file, "--pcap", "bottleneck", "--json", "--set", "warmup=0s")
    port = next(p for p in json.loads(done.stdout)["ports"] if p["name"] == "bottleneck")
    file = overload_file.parent / "out" / "small-overload-run" / "bottleneck.pcapng"
    fields = ["frame.interface_name", "ip.len", "ip.checksum.status", "tcp.checksum.status"]
    checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    asked = [part for field in fields for part in ("-e", field)]
    command = [tshark, "-r", file, *checks, "-T", "fields", *asked]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    assert len(rows) == port["departed"]
    assert {row[0] for row in rows} == {"bottleneck"}
    # 1: good; 2: not checked, as the payload is not in the file
    assert {row[2] for row in rows} == {"1"}
    assert {row[3] for row in rows} <= {"1", "2"}
