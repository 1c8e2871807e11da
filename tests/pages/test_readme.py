"""The figures on the entry pages are those of the commands beside them."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import tidegate
from tidegate.show.measures import shown

ROOT = Path(__file__).parents[2]
ROWS = {
    "completed [1/s]": ("completed_per_s", 1.0),
    "never admitted [% of offered]": ("never_admitted_share", 100.0),
    "completed [% of offered]": ("completed_share", 100.0),
    "FCT from first SYN, mean [s]": ("fct_mean_s", 1.0),
    "FCT from first SYN, p50 [s]": ("fct_p50_s", 1.0),
    "FCT from first SYN, p95 [s]": ("fct_p95_s", 1.0),
    "FCT from admission, mean [s]": ("fct_opened_mean_s", 1.0),
    "data packets sent again [%]": ("retransmitted_share", 100.0),
}
FIGURE = re.compile(r"[\d.,]+ ± [\d.,]+")
TABLES = [
    ("README.md", "overloaded-access-link", "none,fixed-rate:100,gss-ga,close-probe", 5),
    ("docs/own-traffic.md", "captured-traffic", "none,fixed-rate:20,close-probe", 4),
    ("docs/getting-started.md", "", "none,close-probe,tide:admit=connections", 6),
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "name", "gates", "rows"), TABLES)
def test_the_table_is_what_the_command_says(
    page: str, name: str, gates: str, rows: int, tmp_path: Path
) -> None:
    # the same scenario and seeds give the same figures anywhere
    text = (ROOT / page).read_text(encoding="utf-8")
    if name:
        scenario = ROOT / "scenarios" / f"{name}.toml"
    else:
        scenario = tmp_path / "mine.toml"
        [own] = re.findall(r"^```toml\n(.*?)^```", text, re.S | re.M)
        scenario.write_text(own, encoding="utf-8")
    columns = gates.split(",")
    measured = tidegate.compare(scenario, gates=columns, seeds=5).averages
    off, seen = [], 0
    for line in text.splitlines():
        title = next((title for title in ROWS if line.startswith(title)), None)
        if title is None:
            continue
        seen += 1
        metric, scale = ROWS[title]
        found = [shown(average[metric], scale) for average in measured]
        if FIGURE.findall(line) != found:
            off.append(f"{title}: {' '.join(found)}")
    assert off == []
    assert seen == rows


def test_the_listing_is_what_tidegate_flows_says() -> None:
    text = (ROOT / "docs" / "own-traffic.md").read_text(encoding="utf-8")
    [listing] = re.findall(r"^```\n( +upload +download.*?)^```", text, re.S | re.M)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(tidegate.flows(ROOT / "scenarios" / "captures" / "narrow-link.pcap").table)
    said = [line.split() for line in console.export_text().splitlines()]
    lines = [line.split() for line in listing.splitlines() if line.strip()]
    assert len(lines) == 10
    # two headings stand together in the listing, each on a line of its own in the table
    heads = ["Left", "out", "count", "%", "of", "the", "bytes"]
    missing = [line for line in lines if line not in said and line != heads]
    assert missing == []


# the foot of each report is written by the command that made it
def test_the_sum_of_all_reports_is_that_of_their_feet() -> None:
    text = (ROOT / "docs/for-researchers.md").read_text(encoding="utf-8")
    runs, seconds = 0, {}
    for report in sorted((ROOT / "docs/papers").glob("*/REPORT.md")):
        words = report.read_text(encoding="utf-8")
        [(count, cpu)] = re.findall(r"([\d,]+) runs, \d+ seeds, ([\d,]+) s of CPU time", words)
        runs += int(count.replace(",", ""))
        seconds[report.parent.name] = int(cpu.replace(",", ""))
    assert f"{runs:,} runs, with {sum(seconds.values()) / 60:.0f} minutes of" in text
    [told] = re.findall(r"in the simulator: (.*)\.", text)
    said = {name.lower(): int(number) for name, number in re.findall(r"(\w+) (\d+) s", told)}
    assert said == seconds
