"""How `pytest -n` hands the tests out, and the list of what they leave out.

A file is one worker's, and so are all live tests: they wait most of their time, and share the
machine's devices and clocks. One worker runs them one after the other, while the others need the
processor.
"""

import os
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling


class LiveTogether(LoadFileScheduling):
    """Files as units of work; the files in tests/live are one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "tests/live" if file.startswith("tests/live/") else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LiveTogether:
    """Return what hands the tests out."""
    return LiveTogether(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Append what was skipped to the list that `make test` prints (tools/left_out.py)."""
    place = os.environ.get("TIDEGATE_LEFT_OUT")
    if place is None or hasattr(terminalreporter.config, "workerinput"):
        return
    lines = []
    for report in terminalreporter.stats.get("skipped", []):
        # of a skip pytest keeps file, line and reason
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        lines.append(f"{report.nodeid}\t{' '.join(reason.split())}\n")
    with Path(place).open("a", encoding="utf-8") as file:
        file.writelines(lines)
