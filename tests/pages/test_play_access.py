"""The page that runs scenarios without a mouse, with a screen reader, on a phone, in the dark."""

import json
import time

import pytest
from tools import axe

import tidegate
from play_page import SHORT, change, choose_control, in_browser, write

pytestmark = pytest.mark.site
with_axe = pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: make test-tools")


def suggested(page, before):
    script = f"tidegate.suggestions(tidegate.data.schema, {json.dumps(before)}).list"
    return {each["name"] for each in page.value(script)}


@in_browser
def test_what_may_stand_somewhere_comes_from_the_schema(page):
    assert suggested(page, "dur") == {"duration"}
    assert {"bottleneck", "pairs", "access"} <= suggested(page, "[topology.dumbbell]\n")
    assert suggested(page, "[topology.dumbbell]\nbottleneck = { ra") == {"rate"}
    laws = suggested(page, '[port.bottleneck]\nqueue = { law = "')
    assert {"codel", "fq-codel", "pie", "cake"} <= laws
    assert "bbr" in suggested(page, '[traffic.web]\ntransport = { tcp = { control = "b')
    assert "gate" in suggested(page, "[variant.mine.port.bottleneck]\nga")
    assert suggested(page, "# a comment on du") == set()
    assert {"poisson", "uniform"} <= suggested(page, "[traffic.x]\nname = 1\narrivals.")


@in_browser
def test_the_keyboard_alone_is_enough(page):
    """To the field and out of it, through what may stand there, to the button, and a run."""
    page.value("document.getElementById('gallery').focus()")
    page.key("Tab")
    assert page.value("document.activeElement === tidegate.lab.editor.field")
    page.value("tidegate.lab.editor.field.setSelectionRange(1e6, 1e6)")
    page.type("[port.bottleneck]")
    page.key("Enter", text="\r")
    page.type('queue = { law = "cod')
    page.key("Escape")
    page.key(" ", "Space", held=2)
    assert page.value("!tidegate.lab.editor.list.hidden")
    chosen = (
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
        ".textContent"
    )
    assert page.value(chosen).startswith("codel")
    page.key("Enter", text="\r")
    page.type('" }')
    assert page.value("tidegate.lab.editor.text").endswith('queue = { law = "codel" }')
    page.key("Escape")
    time.sleep(0.5)
    for _ in range(30):
        page.key("Tab")
        if page.value("document.activeElement === tidegate.lab.run"):
            break
    assert page.value("document.activeElement === tidegate.lab.run")
    page.key("Enter", text="\r")
    page.wait("tidegate.lab.hashes")
    settings = {"port.bottleneck.queue": {"law": "codel"}}
    expected = tidegate.run(SHORT, settings=settings, seed=1).summary["result_hash"]
    assert page.value("tidegate.lab.hashes") == [expected]


@in_browser
@with_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("wide", [375, 768, 1400])
def test_no_finding_of_axe_and_nothing_is_wider_than_the_page(page, wide, dark):
    """Before a run, with a mistake, with results, and with those of earlier settings."""
    page.size(wide, 900, dark=dark)
    assert axe.findings(page) == []
    write(page, SHORT.replace("5Mbit", "5Mbyte"))
    assert axe.findings(page) == []
    write(page, SHORT)
    choose_control(page, "second", "queue:codel")
    page.value("tidegate.lab.start()")
    page.value("tidegate.lab.editor.field.focus()")
    page.key(" ", "Space", held=2)
    assert axe.findings(page) == []
    change(page, "tidegate.lab.seed", "2")
    page.wait("tidegate.lab.old")
    assert axe.findings(page) == []
    assert page.value("document.documentElement.scrollWidth") <= wide
