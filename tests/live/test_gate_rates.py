"""Prometheus's own `rate()` and `resets()` over an interface that goes and comes back twice."""

import json
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        shutil.which("promtool") is None,
        reason="promtool is not installed: apt-get install -y prometheus",
    ),
]

GATE = "mode = 'observe'\nlaw = { law = 'fixed-rate', rate = '2/s' }\nshape = '9.5Mbit'\n"
GATE += "metrics = '127.0.0.1:9477'\n"
MANY = 40
FETCH = (
    "import urllib.request as u;"
    "print(u.urlopen('http://127.0.0.1:9477/metrics', timeout=5).read().decode())"
)
EVERY_S = 15
MOST_A_SECOND = 1e6
"""Far more than forty connections in fifteen seconds bring of anything, bytes among them."""


def scraped(lab) -> dict[str, str]:
    """Return the counters as the gate shows them now."""
    text = lab.within(lab.near, sys.executable, "-c", FETCH)
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#"]
    return {name: value for name, value in lines if name.split("{")[0].endswith("_total")}


def judged(scrapes, folder) -> subprocess.CompletedProcess[str]:
    """Let Prometheus judge the counters: none is reset, and no rate is absurd."""
    series = sorted({name for scrape in scrapes for name in scrape})
    values = {name: " ".join(scrape.get(name, "_") for scrape in scrapes) for name in series}
    when = f"{EVERY_S * (len(scrapes) - 1)}s"
    asked = [
        {"expr": f"{what}({name}[10m]) > {most}", "eval_time": when, "exp_samples": []}
        for name in series
        for what, most in (("resets", 0), ("rate", MOST_A_SECOND))
    ]
    given = [{"series": name, "values": values[name]} for name in series]
    test = {"interval": f"{EVERY_S}s", "input_series": given, "promql_expr_test": asked}
    file = folder / "rates.yml"
    # samples are read in steps of it
    file.write_text(json.dumps({"evaluation_interval": f"{EVERY_S}s", "tests": [test]}))
    command = ["promtool", "test", "rules", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_no_counter_is_reset_where_an_interface_comes_back(lab, tmp_path):
    gate = lab.gate(GATE)
    scrapes = []

    def grow() -> None:
        before = lab.status()["arrived_total"]
        lab.connect(MANY)
        lab.until(lambda: lab.status()["arrived_total"] >= before + MANY, "counted", gate)
        scrapes.append(scraped(lab))

    grow()
    for _ in range(2):
        lab.within(lab.near, "ip", "link", "delete", "wan")
        lab.until(lambda: not lab.status()["attached"], "gone", gate)
        scrapes.append(scraped(lab))
        lab.cable()
        lab.until(lambda: lab.status()["attached"], "back", gate)
        grow()
    openers = 'tidegate_gate_openers_total{interface="wan"}'
    assert float(scrapes[-1][openers]) >= 3 * MANY
    done = judged(scrapes, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    # the judge can say no: a counter that begins anew
    assert judged([*scrapes, {openers: "1"}], tmp_path).returncode == 1
