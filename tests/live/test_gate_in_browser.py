"""The page of a gate in a real browser: what it shows, its orders, and who may open it."""

import json
import re
import sys

import pytest
from tools import axe
from tools.browser import BROWSER, Browser
from two_a_second import LAW, MANY, refuses
from two_hosts import run

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        BROWSER is None, reason="no Chromium to open pages in: as root, apt-get install -y chromium"
    ),
]
with_axe = pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: make test-tools")

ADDRESS = "127.0.0.1:9478"
OBSERVING = f"mode = 'observe'\n{LAW}who = true\nshape = '9.5Mbit'\npage = '{ADDRESS}'\n"


def link(lab) -> str:
    said = run(lab.program, "gate", "page", "--socket", str(lab.socket))
    return said.strip()


@pytest.fixture
def page(lab):
    """Open the page of a gate, as whoever may give it orders."""
    lab.gate(OBSERVING)
    with Browser(by=("nsenter", f"--net=/run/netns/{lab.near}")) as browser:
        browser.size(1400, 1000)
        browser.open(link(lab))
        browser.wait("document.querySelector('.state') !== null")
        yield browser
        assert browser.said == []  # a fault, or something that could not be loaded


def text(page, place: str) -> str:
    return str(page.value(f"document.querySelector({json.dumps(place)}).innerText"))


def press(page, words: str) -> None:
    """Press a button as the keyboard does."""
    found = f"[...document.querySelectorAll('button')].find((one) => one.innerText === '{words}')"
    page.value(f"{found}.focus()")
    page.key("Enter", text="\r")


def buttons(page) -> list[str]:
    shown = "[...document.querySelectorAll('.orders button')].filter((one) => !one.hidden)"
    return list(page.value(f"{shown}.map((one) => one.innerText)"))


TRY, CONFIRM, STOP = "Try refusals for ten minutes", "Go on refusing", "Stop refusing"


# What is pressed does what `gate enforce --for 10min`, `confirm` and `revert` do to connections.
def test_the_buttons_are_the_orders_of_the_command_line(lab, page):
    assert text(page, ".state") == "Observing. Nothing is refused."
    assert buttons(page) == [TRY]
    assert lab.connect(MANY) == MANY
    press(page, TRY)
    page.wait("document.querySelector('.state').innerText.startsWith('Trying refusals for ')")
    assert re.search(r"for (10 min 0 s|9 min \d+ s) more", text(page, ".state"))
    assert "wan: refusing for 600s, then observing again" in text(page, ".said")
    assert buttons(page) == [CONFIRM, STOP]
    assert 500 < lab.status()["trial_s"] <= 600
    assert refuses(lab)
    press(page, CONFIRM)
    page.wait(
        "document.querySelector('.state').innerText === 'Refusing what the law does not allow.'"
    )
    assert lab.status()["trial_s"] is None
    assert buttons(page) == [STOP]
    press(page, STOP)
    page.wait("document.querySelector('.state').innerText === 'Observing. Nothing is refused.'")
    assert "observing; nothing is refused" in text(page, ".said")
    assert lab.connect(MANY) == MANY


# The page has the numbers of `status --json`, and the client that this test is.
def test_the_page_shows_what_the_status_says(lab, page):
    lab.connect(MANY)
    lab.until(lambda: lab.status()["clients"], "seen")
    page.wait("document.querySelectorAll('tbody tr').length === 1")
    page.wait(f"/Since the start\\s+{MANY} came/.test(document.querySelector('dl').innerText)")
    status = lab.status()
    [client] = status["clients"]
    row = text(page, "tbody tr").split("\t")
    assert row[:3] == [client["address"], str(client["came"]), str(client["refused"])]
    assert "of 9.5 Mbit/s leave" in text(page, "dl")
    assert f"fixed-rate: {status['set']:.3g} allowed in an epoch" in text(page, "dl")
    # the last hour: within ten seconds of the first look it has a part with all that came
    page.wait("document.querySelectorAll('svg .first')[1].getAttribute('d').includes('L')")


def test_a_gate_that_ends_is_said_and_one_that_starts_again_asks_for_its_token(lab, page):
    first = link(lab)
    gate = lab.started[-1]
    gate.terminate()
    gate.wait(timeout=120)
    page.wait(
        "document.querySelector('#fresh').innerText.startsWith('No answer from the gate since')"
    )
    lab.gate(OBSERVING)
    page.wait("!document.querySelector('#enter').hidden")
    assert "This token is not the gate's." in text(page, "#enter")
    second = link(lab)
    assert first != second, "a token is drawn anew at each start"
    page.value("document.querySelector('#token').focus()")
    page.type(second.split("#")[1])
    page.key("Enter", text="\r")
    page.wait("document.querySelector('#enter').hidden")
    page.wait("document.querySelector('#fresh').innerText.startsWith('As it was at')")
    # what the console says of an answer that did not come, and of one without the right token
    assert all("ERR_CONNECTION" in line or "401" in line for line in page.said), page.said
    page.said.clear()


# The token stays out of the address, where history and screenshots would keep it; the tab keeps it.
def test_the_token_is_in_no_address_and_outlives_a_reload(page):
    assert page.value("location.href") == f"http://{ADDRESS}/"
    page.call("Page.reload")
    page.wait("document.querySelector('.state')?.innerText.startsWith('Observing') === true")
    assert page.value("document.cookie") == ""


# A page of another origin, in the browser of whoever has the gate's page open: it may not ask, nor
# show the page in a frame where a click could be led to a button (RFC 6454, 4; CSP 3, 6.4.2). It is
# of this machine too, as browsers let no other ask one's own machine.
def test_another_site_in_the_same_browser_can_do_nothing(lab, page):
    token = link(lab).split("#")[1]
    (lab.folder / "site").mkdir()
    (lab.folder / "site" / "index.html").write_text("<!doctype html><title>other</title>")
    serve = (sys.executable, "-m", "http.server", "8080", "--bind", "127.0.0.1")
    lab.start(lab.near, *serve, "--directory", str(lab.folder / "site"))
    listens = ("ss", "-Hlnt", "sport = :8080")
    lab.until(lambda: lab.within(lab.near, *listens), "site")
    page.open("http://127.0.0.1:8080/")
    attempt = f"""(async () => {{
        const found = [], secret = {{ Authorization: "Bearer {token}" }};
        for (const more of [{{ mode: "no-cors" }}, {{ headers: secret }}]) {{
            const ask = {{ method: "POST", body: "enforce 600000", ...more }};
            const asked = fetch("http://{ADDRESS}/order/0", ask);
            found.push(await asked.then((answer) => answer.type, () => "refused"));
        }}
        return found;
    }})()"""
    assert page.value(attempt) == ["refused", "refused"]
    assert lab.status()["mode"] == "observe"
    page.value(
        f"""new Promise((done) => {{
            const frame = document.createElement("iframe");
            frame.onload = () => done(true);
            frame.src = "http://{ADDRESS}/";
            document.body.append(frame);
        }})"""
    )
    page.value("1")
    assert any("frame-ancestors 'none'" in line for line in page.said), page.said
    page.said.clear()


@with_axe
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("wide", [375, 1400])
def test_everybody_can_use_the_page(lab, page, wide, dark):
    lab.connect(MANY)
    page.size(wide, 900, dark=dark)
    page.wait("document.querySelectorAll('tbody tr').length === 1")
    assert axe.findings(page) == []
    assert page.value("document.documentElement.scrollWidth") <= wide, "it is as wide as the screen"


# Nothing is served to other machines unless a name says how they call this one.
def test_a_page_for_other_machines_has_to_be_meant(lab):
    done = lab.attempt("law = { law = 'none' }\npage = '0.0.0.0:9478'\n")
    assert done.returncode == 2
    assert "page: other machines reach 0.0.0.0:9478, and the page is not encrypted" in done.stderr
    assert "gate.toml:" in done.stderr
