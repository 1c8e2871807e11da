"""The figures in README.md are those of the demo."""

import re
from pathlib import Path

import tidegate

ROOT = Path(__file__).parents[2]
ROWS = {
    "completed [1/s]": ("completed_per_s", 1.0),
    "never admitted [% of offered]": ("never_admitted_share", 100.0),
    "served to the end [%]": ("completed_share", 100.0),
    "FCT from first SYN, mean [s]": ("fct_mean_s", 1.0),
    "data packets sent again [%]": ("retransmitted_share", 100.0),
}
FIGURE = re.compile(r"([\d.]+) ± ([\d.]+)")


def test_the_table_is_what_the_demo_says() -> None:
    # One seed of the demo's five, so: within a tenth, or three times the interval over seeds.
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    gates = ["none", "fixed-rate:100", "gss-ga", "close-probe"]
    scenario = ROOT / "scenarios" / "overloaded-access-link.toml"
    measured = tidegate.compare(scenario, gates=gates, seeds=1).averages
    off = []
    for title, (metric, scale) in ROWS.items():
        [line] = [line for line in text.splitlines() if line.startswith(title)]
        figures = [(float(mean), float(half)) for mean, half in FIGURE.findall(line)]
        for gate, (mean, half), average in zip(gates, figures, measured, strict=True):
            value = average[metric]["mean"] * scale
            if abs(value - mean) > max(mean / 10, 3 * half):
                off.append(f"{title}, {gate}: README {mean}, measured {value:.4g}")
    assert off == []
