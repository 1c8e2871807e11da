"""The picture of the dashboard says what Grafana would; expected values are by hand."""

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tools.live.dashboard import (
    BOARD,
    KINDS,
    UNITS,
    Box,
    Line,
    Prometheus,
    filled,
    intervals,
    legend,
    mapped,
    settings,
    shown,
)

from tidegate.hosts.lab import LabError

if TYPE_CHECKING:
    import subprocess


class _Starting:
    """A host whose Prometheus answers so."""

    folder = Path()

    def __init__(self, said: str) -> None:
        self.said = said

    def within(self, _: str, /, *__: str) -> str:
        return self.said

    def start(self, _: str, /, *__: str) -> "subprocess.Popen[str]":
        raise AssertionError

    def until(self, *_: object) -> None:
        raise AssertionError


# It answers 503 in plain text while it starts; four samples in a minute are four questions.
@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Service Unavailable\n", False),
        ('{"status": "error", "error": "connection refused"}', False),
        ('{"status": "success", "data": {"result": []}}', False),
        ('{"status": "success", "data": {"result": [{"value": [0, "4"]}]}}', True),
    ],
)
def test_what_prometheus_says_while_it_starts_is_no_answer(said: str, asked: bool) -> None:
    assert Prometheus(_Starting(said), "here").has_asked() is asked


def test_variables_are_filled_in() -> None:
    values = {"gate": "router:9477", "interface": "wan", "__rate_interval": "4s"}
    query = 'rate(m{instance="$gate",interface="${interface}"}[$__rate_interval]) + $other'
    expected = 'rate(m{instance="router:9477",interface="wan"}[4s]) + $other'
    assert filled(query, values) == expected


# Grafana: the larger of step + scrape interval and four scrape intervals.
def test_the_window_of_a_rate_is_four_questions_or_a_step_and_one() -> None:
    short = {"__interval": "1s", "__rate_interval": "4s", "__range": "120s"}
    assert intervals(120, 700, scrape=1) == short
    usual = {"__interval": "15s", "__rate_interval": "60s", "__range": "900s"}
    assert intervals(900, 700, scrape=15) == usual
    # a day on 700 points is 123.4 s a point
    day = {"__interval": "124s", "__rate_interval": "139s", "__range": "86400s"}
    assert intervals(86400, 700, scrape=15) == day


def test_labels_are_put_in_the_legend() -> None:
    assert (
        legend("{{fate}} of {{ interface }}", {"fate": "end", "interface": "wan"}) == "end of wan"
    )
    assert legend("{{fate}}", {}) == ""
    assert legend("admitted", {"fate": "end"}) == "admitted"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.25, "percentunit", "25%"),
        (5_000_000, "bps", "5 Mb/s"),
        (999, "bps", "999 b/s"),
        (1500, "pps", "1.5K p/s"),
        (60, "pps", "60 p/s"),
        (25, "count:/s", "25 /s"),
        (2500, "count:/s", "2.5K /s"),
        (1200, "short", "1.2 K"),
        (7, "short", "7"),
        (12345, "none", "12345"),
    ],
)
def test_a_value_has_its_unit(value: float, unit: str, text: str) -> None:
    assert shown(value, unit) == text


def test_an_unknown_unit_is_an_error() -> None:
    with pytest.raises(LabError, match="furlongs"):
        shown(1, "furlongs")


ALARM = [{"type": "value", "options": {"1": {"text": "yes", "color": "red"}}}]
STEPS = {"steps": [{"color": "green", "value": None}, {"color": "orange", "value": 0.5}]}
PANEL = {
    "fieldConfig": {
        "defaults": {"unit": "percentunit", "thresholds": STEPS},
        "overrides": [
            {
                "matcher": {"id": "byName", "options": "alarm"},
                "properties": [{"id": "mappings", "value": ALARM}],
            }
        ],
    }
}


def test_text_and_colour_are_those_of_the_mapping_else_of_the_threshold() -> None:
    assert mapped(1, settings(PANEL, "alarm")) == ("yes", "red")
    assert mapped(1, settings(PANEL, "share")) == ("100%", "orange")
    assert mapped(0.2, settings(PANEL, "share")) == ("20%", "green")
    assert mapped(3, {}) == ("3", "text")


def test_a_line_ends_where_values_are_missing() -> None:
    times, values = Line("", [0, 1, 4, 5], [7, 8, 9, 10]).unbroken(1)
    assert times == [0, 1, 4, 4, 5]
    assert math.isnan(values[2])
    assert values[:2] + values[3:] == [7, 8, 9, 10]


# Of each panel of the file: it can be drawn, its units are known, no two are at one place.
def test_each_panel_can_be_drawn() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(BOARD.read_text(encoding="utf-8"))["panels"]:
        assert panel["type"] in KINDS
        assert panel["title"]
        assert panel["description"]
        for target in panel["targets"]:
            unit = settings(panel, target["legendFormat"]).get("unit", "none")
            assert unit in {*UNITS, "none", "percentunit"} or unit.startswith("count:")
            # a fixed window has no data where Prometheus asks more seldom
            windows = re.findall(r"\[(.*?)\]", target["expr"])
            assert set(windows) <= {"$__rate_interval", "$__range"}
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        taken |= cells


# The grid has 24 columns of 60 pixels; a row has 38; the header 64; 8 are between two panels.
def test_a_panel_is_where_the_dashboard_says() -> None:
    panel = {"gridPos": {"x": 12, "y": 5, "w": 12, "h": 8}}
    assert Box.of(panel) == Box(x=724, y=254, wide=712, high=296)
