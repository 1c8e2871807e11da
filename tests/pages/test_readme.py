"""The figures in README.md are those of the commands beside them."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import tidegate

ROOT = Path(__file__).parents[2]
ROWS = {
    "completed [1/s]": ("completed_per_s", 1.0),
    "never admitted [% of offered]": ("never_admitted_share", 100.0),
    "served to the end [%]": ("completed_share", 100.0),
    "FCT from first SYN, mean [s]": ("fct_mean_s", 1.0),
    "FCT from admission, mean [s]": ("fct_admitted_mean_s", 1.0),
    "data packets sent again [%]": ("retransmitted_share", 100.0),
}
FIGURE = re.compile(r"([\d.]+) ± ([\d.]+)")
TABLES = [
    ("Two commands", "overloaded-access-link", "none,fixed-rate:100,gss-ga,close-probe", 5),
    ("Your own traffic", "captured-traffic", "none,fixed-rate:20,close-probe", 4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("chapter", "name", "gates", "rows"), TABLES)
def test_the_table_is_what_the_command_says(chapter: str, name: str, gates: str, rows: int) -> None:
    # One seed of the five, so: within a tenth, or three times the interval over seeds.
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [text] = re.findall(rf"^## {chapter}$(.*?)^## ", text, re.S | re.M)
    scenario = ROOT / "scenarios" / f"{name}.toml"
    columns = gates.split(",")
    measured = tidegate.compare(scenario, gates=columns, seeds=1).averages
    off, seen = [], 0
    for line in text.splitlines():
        title = next((title for title in ROWS if line.startswith(title)), None)
        if title is None:
            continue
        seen += 1
        metric, scale = ROWS[title]
        figures = [(float(mean), float(half)) for mean, half in FIGURE.findall(line)]
        for gate, (mean, half), average in zip(columns, figures, measured, strict=True):
            value = average[metric]["mean"] * scale
            if abs(value - mean) > max(mean / 10, 3 * half):
                off.append(f"{title}, {gate}: README {mean}, measured {value:.4g}")
    assert off == []
    assert seen == rows


def test_the_listing_is_what_tidegate_flows_says() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [listing] = re.findall(r"^```\n( +upload +download.*?)^```", text, re.S | re.M)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(tidegate.flows(ROOT / "scenarios" / "captures" / "narrow-link.pcap").table)
    said = [line.split() for line in console.export_text().splitlines()]
    lines = [line.split() for line in listing.splitlines() if line.strip()]
    assert len(lines) == 10
    # two headings stand together in the listing, each on a line of its own in the table
    missing = [line for line in lines if line not in said and line != ["Left", "out", "count"]]
    assert missing == []
