"""The page of a gate with all that it can show: two directions, an hour, a hundred clients, faults.

Its files are served here with states that are made up; `tests/live` has the page of a real gate.
"""

import http.server
import json
import os
import threading
from pathlib import Path

import pytest
from tools import axe
from tools.browser import BROWSER, Browser

FILES = Path(__file__).parents[2] / "crates/gate/src/page"
pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(
        BROWSER is None, reason="no Chromium to open pages in: as root, apt-get install -y chromium"
    ),
    pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: make test-tools"),
]
NOW_S = 1_790_000_000
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


def client(number: int) -> dict[str, object]:
    return {
        "address": f"2001:db8:{number:x}:ffff::/64" if number % 3 else f"192.0.2.{number}",
        "came": 40_000 - number,
        "refused": 20_000 - 200 * number,
        "bytes": 123_456_789 // (number + 1),
        "waited_s": 1234.5 / (number + 1),
        "waits_s": 75.4 if number % 2 else None,
    }


def gate(direction: str, interface: str, clients: int) -> dict[str, object]:
    packets = [["session_refused", 123_456], ["would_refuse", 7]]
    return {
        "interface": interface,
        "direction": direction,
        "attached": True,
        "mode": "enforce",
        "law": "tide",
        "admits": "clients",
        "set": 3.25,
        "epoch_s": 0.97,
        "arrived": 41,
        "admitted": 4,
        "departed": 3,
        "drops": 2,
        "waiting": 87,
        "queue": "tbf",
        "rate_bps": 47.2e6,
        "received_bps": 812e3,
        "link_bps": 47.5e6,
        "trial_s": 433.2,
        "clients_served": 8_210,
        "clients_waited": 1_012,
        "arrived_total": 1_234_567,
        "packets": packets,
        "connections": None,
        "unseen_share": 0.0413,
        "who": True,
        "alarm": direction == "up",
        "log_lost": 3,
        "clients": [client(number) for number in range(clients)],
        "trouble": "wan0: the gate does not see 61 % of the bytes at ingress: a flower filter",
    }


def hour(number: int) -> list[dict[str, int]]:
    return [
        {
            "at_s": NOW_S - 3600 + 10 * part,
            "bytes": 45_000_000 + 12_000_000 * (part % 7) // 7 * (1 + number) // 2,
            "came": 300 + part % 50,
            "refused": 180 + part % 40,
            "spared": 0,
            "lost": 4,
        }
        for part in range(360)
    ]


GATES = [gate("down", "lan0", 100), gate("up", "wan0", 3)]
STATE = {"now_s": NOW_S, "groups": [{"socket": "/run/a.sock", "gates": GATES}]}
HOUR = {"every_s": 10, "groups": [[hour(0), hour(1)]]}


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers as the gate does, with what is made up."""

    def do_GET(self) -> None:
        name = self.path.lstrip("/") or "index.html"
        made_up = {"state": STATE, "hour": HOUR}.get(name)
        body = json.dumps(made_up).encode() if made_up else (FILES / name).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", KINDS.get(name.split(".")[-1], "application/json"))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def page():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser() as browser:
        browser.open(f"http://127.0.0.1:{server.server_address[1]}/#token")
        browser.wait("document.querySelectorAll('tbody tr').length === 103")
        browser.wait("document.querySelectorAll('svg path.first[d]').length === 4")
        yield browser
        assert browser.said == []
    server.shutdown()
    server.server_close()


# WCAG 2.2, 1.4.10: a page needs no scrolling in two directions; a table in a frame of its own may.
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("wide", [320, 375, 1400])
def test_it_can_be_read_at_any_width(page, wide, dark):
    page.size(wide, 900, dark=dark)
    page.wait(f"document.querySelector('svg').viewBox.baseVal.width < {wide}")
    assert axe.findings(page) == []
    assert page.value("document.documentElement.scrollWidth") <= wide
    small = "[...document.querySelectorAll('.orders button')].filter((it) => !it.hidden)"
    # WCAG 2.2, 2.5.8: 24 pixels at least
    assert page.value(f"{small}.every((it) => it.getBoundingClientRect().height >= 24)")
    if folder := os.environ.get("TIDEGATE_PICTURES"):
        page.picture(Path(folder) / f"gate-{wide}-{'dark' if dark else 'light'}.png")


# By hand: 45 MB in ten seconds are 36 Mbit/s; with half of 6/7 of 12 MB more they are 40.1.
def test_the_hour_is_told_in_words_too(page):
    told = page.value("[...document.querySelectorAll('svg')].map((it) => it.ariaLabel)")
    assert told[0] == "What left in the last hour, Mbit/s. at most 40.1, last 37.4."
    # 300 to 349 in ten seconds
    assert "came: at most 34.9, last 30.9; refused: at most 21.9, last 21.9" in told[1]


def test_what_is_wrong_is_said_first(page):
    assert page.value("document.querySelector('.state').innerText") == (
        "Trying refusals for 7 min 13 s more, then observing again."
    )
    problem = page.value("[...document.querySelectorAll('.gate .fault')].at(-1).innerText")
    alarm, trouble, log = problem.split("\n\n")
    assert alarm == "Alarm: admitted sessions do not end. Nothing is refused."
    assert trouble == GATES[1]["trouble"]
    assert log == "3 lines of the log could not be written."
