"""The page that runs scenarios, written once for each file of tests that opens it.

Each test opens the page as a file, in a browser that reaches no other machine.
"""

import pytest
from tools import rust_targets, wasm
from tools.browser import Browser
from tools.website import gallery, play

from play_page import ROOT, SHORT, opened


@pytest.fixture(scope="module")
def module():
    try:
        return wasm.built()
    except rust_targets.LackingError as lacking:
        pytest.skip(str(lacking))


@pytest.fixture(scope="module")
def ready():
    found = play.ready(ROOT)
    assert len(found) > 25
    # of those that are simulated a page runs all but what takes stacks of other projects
    simulated = {card.name for card in gallery.cards(ROOT) if not card.real}
    left_out = simulated - {each.card.name for each in found}
    assert left_out == {name for name in simulated if name.startswith("stacks/")}
    return found


@pytest.fixture(scope="module")
def address(module, tmp_path_factory) -> str:
    site = tmp_path_factory.mktemp("site")
    play.write(ROOT, module, site)
    return (site / "play" / "index.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    with Browser() as found:
        yield found


@pytest.fixture
def page(browser, address):
    browser.size(1400, 1000)
    opened(browser, f"{address}#{play.fragment({'text': SHORT})}")
    yield browser
    assert browser.said == []  # a fault, or something that could not be loaded
