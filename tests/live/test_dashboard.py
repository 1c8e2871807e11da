"""The dashboard and the alert rules on a real Prometheus that asks a real gate."""

import json
import shutil
import time

import pytest
from tools.live.dashboard import BOARD, GATE, Prometheus, answer, intervals

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="Prometheus is not installed: apt-get install -y prometheus",
    ),
]


@pytest.fixture
def prometheus(lab):
    """Run a gate that refuses, some sessions, and a Prometheus that asks it every second."""
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'fixed-rate', rate = '2/s' }\nshape = '9.5Mbit'\n"
        f"metrics = '{GATE}'\n"
    )
    for _ in range(2):
        lab.connect(20)
    return Prometheus.started(lab, lab.near)


# A panel whose query returns nothing is empty for the operator too: a metric or a label is wrong.
def test_every_panel_of_the_dashboard_has_data(prometheus):
    board = json.loads(BOARD.read_text())
    values = prometheus.variables(board)
    assert values == {"gate": GATE, "interface": "wan"}
    targets = [target for panel in board["panels"] for target in panel["targets"]]
    assert len(targets) >= 10
    now = time.time()
    for each in targets:
        found = answer(prometheus, each, values | intervals(60, 700), now - 3, now)
        assert found, f"no data: {each['expr']}"


# None of them fires at a gate that works, and each expression is one that Prometheus can evaluate.
def test_no_alert_fires_at_a_gate_that_works(prometheus):
    [group] = prometheus.ask("rules")["groups"]
    assert len(group["rules"]) == 7
    for rule in group["rules"]:
        assert rule["health"] in {"ok", "unknown"}, rule
        assert rule["state"] == "inactive", rule["name"]
