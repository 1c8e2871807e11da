"""The kernel with a clock of its own: what is refused before one is compiled."""

import os
from pathlib import Path

import pytest
from tools import own_clock

from tidegate.hosts import own_clock as kernel
from tidegate.hosts.archive import Obstacle


def test_a_source_that_is_not_as_expected_is_not_changed(tmp_path: Path) -> None:
    """A change names what it replaces; a newer source may not have it, or have it twice."""
    file = tmp_path / "verifier.c"
    file.write_text("a b a")
    with pytest.raises(Obstacle, match=r"verifier\.c of this source has 0 times: c"):
        kernel.changed(file, "c", "d")
    with pytest.raises(Obstacle, match="has 2 times: a"):
        kernel.changed(file, "a", "d")
    assert file.read_text() == "a b a"
    kernel.changed(file, "b", "c")
    assert file.read_text() == "a c a"


def test_without_root_it_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert own_clock.main(["true"]) == 2
    assert "it needs root and x86-64" in capsys.readouterr().err


@pytest.mark.live
@pytest.mark.skipif(not (kernel.place() / "linux").exists(), reason="its kernel is not compiled")
def test_time_stands_still_while_it_computes(capsys: pytest.CaptureFixture[str]) -> None:
    """An hour of sleep takes no hour, and a computation no time at all."""
    if os.geteuid() != 0:
        pytest.skip("the kernel needs root: run make test as root")
    script = "begun=$SECONDS; sleep 3600; for i in {1..100000}; do :; done; echo $((SECONDS-begun))"
    assert own_clock.main(["--seconds", "60", "--", "bash", "-c", script]) == 0
    assert capsys.readouterr().out.strip() == "3600"
