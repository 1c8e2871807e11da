"""How `pytest -n` hands the tests out: a file is one worker's, and so are all live tests.

Live tests wait most of their time, and share the machine's devices and clocks. One worker runs
them one after the other, while the others need the processor.
"""

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
