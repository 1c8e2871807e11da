"""The reference of the result columns."""

from tools.pages import MARK

ABOUT = {
    "flows": "A row for each flow that started.",
    "ports": "A row for each sampled port and interval; `sample` in the scenario spaces them.",
    "events": "A row for each decision of a law.",
    "arrivals": "A row for each packet that came to a port with `record`; only where one has it.",
    "flow_series": "A row for each flow that `series.flows` in the scenario names and interval.",
    "class_series": "A row for each class that `series.classes` names and interval.",
    "queue_series": "A row for each port that is no access link, class that `series.classes` names"
    " and interval.",
    "udp": "A row for each class of UDP: its packets that were sent after the warm-up.",
    "video": "A row for each viewer of a class with `video`; only where there is one.",
}
"""The tables that are written to files, in the order of the page."""


def page() -> str:
    """Return every column with its unit, as Markdown."""
    from tidegate import _native

    lines = ["# Columns of the results", "", MARK]
    lines += ["Each table is a Parquet file in the folder of its run, and a frame in Python."]
    lines += ["A cell is empty where what it tells of has not happened."]
    tables = _native.columns()
    for table, about in ABOUT.items():
        lines += ["", f"## {table}", "", about, ""]
        lines += ["| column | unit | type | |", "|---|---|---|---|"]
        lines += [
            f"| `{name}` | {unit} | {kind} | {meaning} |"
            for name, unit, kind, meaning in tables[table]
        ]
    return "\n".join(lines) + "\n"
