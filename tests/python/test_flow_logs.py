"""Logs of single flows as qlog, beside the results.

`crates/stacks/tests/qlog.rs` reads them with another implementation of qlog.
"""

import json

import pytest

from tidegate.results.flow_logs import for_qvis, names

NEWER_AND_OLDER = {
    "quic:packet_sent": "transport:packet_sent",
    "quic:packet_received": "transport:packet_received",
    "quic:packet_lost": "recovery:packet_lost",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
}
"""Names of the drafts of today (quic-12), and of version 0.3."""


def records(file):
    """Return the records of a sequence (RFC 7464)."""
    content = file.read_text("utf-8")
    assert content.startswith("\x1e")
    assert content.endswith("\n")
    return [json.loads(each) for each in content.split("\x1e")[1:]]


@pytest.fixture
def logged(tidegate, overload_file):
    done = tidegate("run", overload_file, "--qlog", "web:3", "--json", "--out", "logged")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), overload_file.parent / "logged"


def test_a_log_changes_no_result(tidegate, overload_file, logged):
    summary, folder = logged
    done = tidegate("run", overload_file, "--json", "--out", "plain")
    assert json.loads(done.stdout)["result_hash"] == summary["result_hash"]
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert {"web-3.sqlog", "web-3.qvis.sqlog"} <= set(manifest["files"])


def test_both_files_tell_the_same_events_under_the_names_of_their_versions(logged):
    _, folder = logged
    (head, *newer), (old_head, *older) = (records(folder / name) for name in names("web", 3))
    assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    assert head["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-12"]
    # what qvis asks of a header: version, form, and a trace
    assert (old_head["qlog_version"], old_head["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert old_head["trace"]["vantage_point"] == head["trace"]["vantage_point"]
    assert len(newer) == len(older) > 10
    for new, old in zip(newer, older, strict=True):
        assert NEWER_AND_OLDER[new["name"]] == old["name"]
        assert new["time"] == old["time"]
        assert new["data"].get("header") == old["data"].get("header")
    # the third flow opens its connection first, and its segments are parts of a stream
    assert newer[0]["data"]["header"] == {"packet_type": "initial", "packet_number": 0}
    streams = [
        frame
        for event in older
        for frame in event["data"].get("frames", ())
        if frame["frame_type"] == "stream"
    ]
    assert streams[0]["offset"] == 0
    assert all(frame["length"] == frame["raw"]["payload_length"] for frame in streams)


def test_a_piece_of_a_log_may_be_empty():
    assert for_qvis(b"") == b""
