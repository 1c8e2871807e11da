"""A small overloaded link, and ways to run the command line on it."""

import io
import os
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import hypothesis
import pytest

# A shell that starts the tests in the background has SIGINT ignored, and so would the commands
# that are interrupted here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test-long` takes the profile `long`, by the environment variable.
hypothesis.settings.register_profile("short", max_examples=20, deadline=None)
hypothesis.settings.register_profile("long", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))

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


PLAIN = {"NO_COLOR": "1", "COLUMNS": "120"}

Tidegate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tidegate(tmp_path: Path) -> Tidegate:
    """Run the command line in an empty folder, as a user does, but within this process."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return called([str(each) for each in arguments], tmp_path)

    return run


@pytest.fixture
def tidegate_process(tmp_path: Path) -> Tidegate:
    """Run the command line in an empty folder, in a process of its own."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tidegate", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **PLAIN},
            check=False,
            **options,
        )

    return run


@pytest.fixture
def shelf() -> Iterator[str]:
    """The URL of an empty object store that lasts from one command to the next.

    It is fsspec's store in memory by another name: commands refuse `memory://`, which ends with
    their process.
    """
    pytest.importorskip("upath", reason="not installed: pip install universal-pathlib")
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem
    from upath import UPath
    from upath.registry import register_implementation

    class Shelf(MemoryFileSystem):
        protocol = "shelf"

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            found: str = super()._strip_protocol(str(path).replace("shelf://", "memory://"))
            return found

    class ShelfPath(UPath):
        pass

    fsspec.register_implementation("shelf", Shelf, clobber=True)
    register_implementation("shelf", ShelfPath, clobber=True)
    yield "shelf:///laboratory"
    store = fsspec.filesystem("shelf")
    if store.exists("/laboratory"):
        store.rm("/laboratory", recursive=True)


def called(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Call the command line; an exception that it does not handle is printed, as Python does."""
    from tidegate.cli import main
    from tidegate.errors import TidegateWarning

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with ExitStack() as changed:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            changed.callback(signal.signal, number, signal.getsignal(number))
        changed.enter_context(warnings.catch_warnings())
        warnings.simplefilter("default", TidegateWarning)
        changed.enter_context(mock.patch.dict(os.environ, PLAIN))
        changed.enter_context(mock.patch.object(sys, "argv", ["tidegate", *arguments]))
        changed.enter_context(redirect_stdout(out))
        changed.enter_context(redirect_stderr(err))
        changed.enter_context(chdir(folder))
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        except Exception:
            traceback.print_exc()
            code = 1
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(["tidegate", *arguments], code, *said)


@pytest.fixture(autouse=True)
def _pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures of grids out, most of what a small one costs, where none are tested."""
    if request.node.get_closest_marker("pictures") is None:
        monkeypatch.setattr("tidegate.show.finished.drawn", lambda *_: {})
