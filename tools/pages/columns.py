"""The reference of the result columns."""

from tools.pages import MARK

ABOUT = {
    "flows": "A row for each flow that started.",
    "flow_window": "A row for each flow, in the order of `flows`.",
    "class_rates": "A row for each class and each sampling interval of ports.",
    "ports": "A row for each sampled port and interval; `sample` in the scenario is the interval.",
    "events": "A row for each decision of a law.",
    "arrivals": "A row for each packet that arrived at a port with `record`; only if there is one.",
    "flow_series": "A row for each interval and each flow named in `series.flows` of the scenario.",
    "class_series": "A row for each interval and each class named in `series.classes`.",
    "queue_series": "A row for each interval, each class named in `series.classes`, and each port"
    " that is no access link.",
    "acks": "A row for each acknowledgement that reaches the sender of a flow named in"
    " `series.acks`, and for each expiry of its retransmission timer. The opening packets are left"
    " out.",
    "udp": "A row for each class of UDP: its packets sent after the warm-up.",
    "video": "A row for each viewer of a class with `video`; only if there is such a class.",
    "pages": "A row for each page of a class with `pages`; only if there is such a class.",
    "objects": "A row for each object of these pages.",
}
"""The tables that are written to files, in the order of the page."""


def page() -> str:
    """Return every column with its unit, as Markdown."""
    from tidegate import _native

    lines = ["# Columns of the results", "", MARK]
    lines += ["Each table is a Parquet file in the folder of its run, and a frame in Python."]
    lines += ["A cell is empty if its event has not happened."]
    tables = _native.columns()
    for table, about in ABOUT.items():
        lines += ["", f"## {table}", "", about, ""]
        lines += ["| column | unit | type | |", "|---|---|---|---|"]
        lines += [
            f"| `{name}` | {unit} | {kind} | {meaning} |"
            for name, unit, kind, meaning in tables[table]
        ]
    return "\n".join(lines) + "\n"
