"""What the tests of the page that runs scenarios share: scenarios, and what its user does."""

import json
import time
import tomllib
from pathlib import Path

import pytest
from tools.browser import BROWSER

import tidegate
from tidegate.scenario import document, overrides

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
in_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium to open pages in: as root, apt-get install -y chromium"
)
SHORT = """
name     = "short"
duration = "3s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "5Mbit", delay = "20ms", buffer = "50packets" }

[traffic.web]
arrivals  = { poisson = "20/s" }
size      = "20kB"
transport = { tcp = { profile = "linux" } }
"""
LONG = SHORT.replace('"3s"', '"20000s"')


def opened(page, address):
    page.open(address)
    page.wait("document.body.dataset.ready === 'yes'")


def status(page):
    return page.value("document.querySelector('.lab-status').textContent")


def write(page, text):
    """Put a text into the editor, as if it were pasted, and wait until it has been checked."""
    page.value(
        "(async () => { const { editor } = tidegate.lab; editor.field.select();"
        f" editor.insert({json.dumps(text)}); }})()"
    )
    time.sleep(0.4)  # it is checked when nobody types
    page.value("tidegate.lab.engines[0].ask({ do: 'columns' }).then(() => true)")
    time.sleep(0.2)


def change(page, field, value, event="change"):
    """Set a field of the page as its user does; a script names it."""
    page.value(
        f"(() => {{ const field = {field}; field.value = {json.dumps(value)};"
        f" field.dispatchEvent(new Event({json.dumps(event)})); }})()"
    )


def choose_control(page, menu, name):
    """Choose a control, when the scenario that was written has it."""
    options = (
        f"[...tidegate.lab.{menu}.options].some(({{ value }}) => value === {json.dumps(name)})"
    )
    page.wait(options, 60)
    change(page, f"tidegate.lab.{menu}", name)


def chosen_file(page, path):
    found = page.call("Runtime.evaluate", expression="tidegate.lab.files")["result"]
    page.call("DOM.setFileInputFiles", files=[str(path)], objectId=found["objectId"])


def controlled(text, control, seed=1):
    """Run a scenario on this machine under a control, by the name that the page gives it."""
    source = document.read(text)
    kind, _, label = control.partition(":")
    settings = ()
    if kind == "variant":
        [cell] = overrides.chosen_variants(source, [label])
        settings = cell.settings
    elif kind in {"queue", "gate"}:
        [cell] = overrides.law_cells(kind, [label], [overrides.default_port(source.load())], source)
        settings = cell.settings
    elif kind == "tcp":
        classes = tomllib.loads(text)["traffic"]
        settings = [(f"traffic.{name}.transport.tcp.control", f'"{label}"') for name in classes]
    values = {key: tomllib.loads(f"value = {value}")["value"] for key, value in settings}
    return tidegate.run(text, settings=values, seed=seed)
