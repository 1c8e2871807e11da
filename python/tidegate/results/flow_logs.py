"""Logs of single flows as qlog: what is asked for, the files, and the form that qvis reads.

The simulator writes by the drafts of today (draft-ietf-quic-qlog-main-schema). qvis reads
version 0.3, which has other names for the same events.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError
from tidegate.results.location import plain_name
from tidegate.results.simulate import FlowLogs

if TYPE_CHECKING:
    from tidegate._native import Scenario
    from tidegate.results.store import Store

RECORD = b"\x1e"
"""What a record begins with (RFC 7464)."""
NAMES = {
    "quic:packet_sent": "transport:packet_sent",
    "quic:packet_received": "transport:packet_received",
    "quic:packet_lost": "recovery:packet_lost",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
}
"""The events by their names in version 0.3."""


def asked(flows: list[str], scenario: Scenario) -> list[tuple[str, int]]:
    """Return the flows that CLASS:N names; raises UsageError where there is no such class."""
    found = []
    for flow in dict.fromkeys(flows):
        name, _, number = flow.rpartition(":")
        if not number.isascii() or not number.isdecimal() or name not in scenario.classes:
            raise UsageError(
                f"There is no flow {flow}.",
                "Write CLASS:N, such as"
                f" {scenario.classes[0]}:0. Classes: {', '.join(scenario.classes)}.",
            )
        found.append((name, int(number)))
    return found


def names(name: str, number: int) -> tuple[str, str]:
    """Return the names of the two files of a flow."""
    safe = plain_name(name, "flow")
    return f"{safe}-{number}.sqlog", f"{safe}-{number}.qvis.sqlog"


def into(store: Store, flows: list[tuple[str, int]]) -> FlowLogs:
    """Return logs that are written into a folder; of a flow that never begins there is no file."""
    files = [names(*flow) for flow in flows]
    held = [b""] * len(flows)

    def write(place: int, piece: bytes) -> None:
        plain, qvis = files[place]
        if plain not in store.files:
            # the first record is the head of the file, which says nothing of the flow
            held[place] += piece
            if held[place].count(RECORD) < 2:
                return
            piece = held[place]
        store.append(plain, piece)
        store.append(qvis, for_qvis(piece))

    return FlowLogs(flows, write)


def for_qvis(piece: bytes) -> bytes:
    """Return records in the form of version 0.3."""
    records = [_older(json.loads(each)) for each in piece.split(RECORD) if each]
    return b"".join(RECORD + json.dumps(each).encode() + b"\n" for each in records)


def _older(record: dict[str, Any]) -> dict[str, Any]:
    if "trace" in record:
        trace = record["trace"]
        common = {"time_format": "relative", "reference_time": 0, "protocol_type": ["QUIC"]}
        kept = {key: trace[key] for key in ("title", "vantage_point")}
        return {
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": record["title"],
            "trace": {**kept, "common_fields": common},
        }
    data = record["data"]
    for frame in data.get("frames", ()):
        if "raw" in frame:
            frame["length"] = frame["raw"]["payload_length"]
    return {"time": record["time"], "name": NAMES[record["name"]], "data": data}
