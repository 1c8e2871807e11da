"""Measure the page that runs scenarios: `python -m tools.play_figures`, after `make site`.

Times of a browser are real time, which other work of the machine lengthens; the processor time of
the page's process is beside them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

from tidegate import _native
from tidegate.scenario import document
from tools import wasm
from tools.browser import Browser
from tools.website import play

SITE = Path("build/site/html")
FORTY = """
name     = "forty flows"
duration = "60s"

[topology.dumbbell]
pairs      = 40
access     = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "20Mbit", delay = "18ms", buffer = "1bdp" }

[traffic.long]
arrivals  = { uniform = 40, within = "1s" }
size      = "unlimited"
transport = { tcp = { profile = "linux" } }
"""


def first_picture(address: str) -> tuple[float, float]:
    """Open the page in a new browser, run at once, and return when the first picture was there.

    In seconds since the page was opened, and of them those of its processor time.
    """
    with Browser() as page:
        page.size(1400, 1000)
        page.open(address)
        page.wait("window.tidegate?.lab")
        page.value("tidegate.lab.ready.then(() => void tidegate.lab.start())")
        page.wait("tidegate.lab.firstPicture")
        return float(page.value("tidegate.lab.firstPicture")) / 1e3, page.cpu_s()


def native_s() -> float:
    """Return the processor time of the forty flows in the simulator of this machine."""
    scenario = document.Document(FORTY, "scenario", Path()).load()
    begun = time.thread_time()
    run = _native.Simulation(scenario, 1)
    while not run.advance(1000.0):
        pass
    return time.thread_time() - begun


def in_page_s(address: str, *, pictures: bool) -> tuple[float, float, float]:
    """Run the forty flows in the page; return its real time, processor time and memory in MB."""
    run = (
        "tidegate.lab.start().then(() => [tidegate.lab.runs[0].spent, tidegate.lab.runs[0].memory])"
    )
    if not pictures:
        run = (
            "tidegate.lab.engines[0].start({ text: tidegate.lab.editor.text, settings: [] }, '1',"
            " null, () => {}).then(({ spent, memory }) => [spent, memory])"
        )
    with Browser() as page:
        page.size(1400, 1000)
        page.open(address)
        page.wait("document.body.dataset.ready === 'yes'")
        before = page.cpu_s()
        spent, memory = page.value(run)
        return spent / 1e3, page.cpu_s() - before, memory / 1e6


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(prog="python -m tools.play_figures", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each time is measured")
    runs = parser.parse_args().runs
    index = Path.cwd() / SITE / "play" / "index.html"
    if not index.exists():
        sys.exit(f"{SITE}/play is not there: run make site")
    module = wasm.built()
    print(f"module: {len(wasm.packed(module)) / 1e6:.2f} MB compressed")
    forty = f"{index.as_uri()}#{play.fragment({'text': FORTY})}"
    opened = [first_picture(forty) for _ in range(runs)]
    real, cpu = (_median([each[place] for each in opened]) for place in (0, 1))
    print(f"first picture: {real} s, of processor time {cpu} s")
    print(f"forty flows for 60 s, natively: {_median([native_s() for _ in range(runs)])} s")
    for pictures in (False, True):
        found = [in_page_s(forty, pictures=pictures) for _ in range(runs)]
        spent, cpu, memory = (_median([each[place] for each in found]) for place in range(3))
        shown = "with" if pictures else "without"
        print(f"in the page, {shown} pictures: {spent} s, of processor time {cpu} s, {memory} MB")


def _median(values: list[float]) -> str:
    return f"{statistics.median(values):.3g}"


if __name__ == "__main__":
    main()
