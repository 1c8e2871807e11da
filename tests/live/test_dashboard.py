"""The dashboard and the alert rules on a real Prometheus that asks a real gate."""

import json
import re
import shutil
import sys
import time
import urllib.parse

import pytest
from tools.live.lab import ROOT

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]

GATE = "127.0.0.1:9477"
ASK = (
    "import json, sys, urllib.request as u;"
    "print(u.urlopen('http://127.0.0.1:9490/api/v1/' + sys.argv[1], timeout=5).read().decode())"
)


def ask(lab, what, **words):
    path = f"{what}?{urllib.parse.urlencode(words)}"
    answer = json.loads(lab.within(lab.near, sys.executable, "-c", ASK, path))
    assert answer["status"] == "success", answer
    return answer["data"]


@pytest.fixture
def prometheus(lab):
    """Run a gate that refuses, a Prometheus that asks it every second, and some sessions."""
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'fixed-rate', rate = '2/s' }\nshape = '9.5Mbit'\n"
        f"metrics = '{GATE}'\n"
    )
    config = lab.folder / "prometheus.yml"
    alerts = ROOT / "crates/gate/etc/alerts.yml"
    config.write_text(
        "global: { scrape_interval: 1s, evaluation_interval: 1s }\n"
        f"rule_files: [ {alerts} ]\n"
        "scrape_configs:\n  - job_name: tidegate\n    static_configs:\n"
        f"      - targets: [ '{GATE}' ]\n"
    )
    process = lab.start(
        lab.near,
        *("prometheus", f"--config.file={config}", f"--storage.tsdb.path={lab.folder}/data"),
        *("--web.listen-address=127.0.0.1:9490", "--log.level=error"),
    )

    def samples():
        try:
            found = ask(lab, "query", query="count_over_time(tidegate_gate_attached[1m])")
        except AssertionError:
            return False
        return found["result"] and int(found["result"][0]["value"][1]) >= 4

    for _ in range(2):
        lab.connect(20)
    lab.until(samples, "asked four times", process)
    return lab


# A panel whose query returns nothing is empty for the operator too: a metric or a label is wrong.
def test_every_panel_of_the_dashboard_has_data(prometheus):
    board = json.loads((ROOT / "crates/gate/etc/grafana-gate.json").read_text())
    variables = {each["name"]: each["query"] for each in board["templating"]["list"]}
    values = {"gate": GATE, "interface": "wan"}
    for name, value in values.items():
        metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variables[name]).groups()
        metric = metric.replace("$gate", GATE)
        series = ask(prometheus, "series", **{"match[]": metric})
        assert {each[label] for each in series} == {value}
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(queries) >= 10
    for each in queries:
        query = each.replace("$gate", GATE).replace("$interface", "wan")
        now = time.time()
        found = ask(prometheus, "query_range", query=query, start=now - 3, end=now, step=1)
        assert found["result"], f"no data: {query}"


# None of them fires at a gate that works, and each expression is one that Prometheus can evaluate.
def test_no_alert_fires_at_a_gate_that_works(prometheus):
    [group] = ask(prometheus, "rules")["groups"]
    assert len(group["rules"]) == 7
    for rule in group["rules"]:
        assert rule["health"] in {"ok", "unknown"}, rule
        assert rule["state"] == "inactive", rule["name"]
