"""A small overloaded link, and ways to run the command line on it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# 2 Mbit/s can finish about 20 transfers of 10 kB a second; 60 arrive.
OVERLOAD = """\
name     = "small overload"
duration = "20s"
warmup   = "5s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "20ms", buffer = "40packets" }

[port.bottleneck]
gate = { law = "close-probe", alpha_min = 5 }

[traffic.web]
arrivals  = { poisson = "60/s" }
size      = { pareto = { mean = "10kB", shape = 1.5 } }
transport = { tcp = { profile = "ns2-2005" } }
"""


@pytest.fixture(scope="session")
def overload() -> str:
    return OVERLOAD


@pytest.fixture
def overload_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(OVERLOAD, encoding="utf-8")
    return path


Tidegate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tidegate(tmp_path: Path) -> Tidegate:
    """Run the command line in an empty folder, as a user does."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tidegate", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
            check=False,
            **options,
        )

    return run
