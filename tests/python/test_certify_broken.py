"""`tidegate certify` finds what is broken in a control, and only that.

The controls are Reno but for one thing each (broken_controls.py). The last is the built-in Reno
that counts acknowledgements.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidegate.cli import app

BROKEN = Path(__file__).with_name("broken_controls.py")
COUNTS_ACKS = (
    '{ tcp = { profile = "linux", control = "reno", byte_counting = 0, delayed_ack = false } }'
)
PASSES = dict.fromkeys(("outage", "shallow-buffer", "beside-reno", "split-acks"), "not worse")
FOUND = {
    f"{BROKEN}:Reno": PASSES,
    # after each timeout a whole window in place of one packet
    f"{BROKEN}:NeverBacksOff": PASSES | {"outage": "worse"},
    # it sends on what the buffer does not hold, and Reno yields to it
    f"{BROKEN}:IgnoresLoss": PASSES | {"shallow-buffer": "worse", "beside-reno": "worse"},
    # it fills a shallow buffer as soon as it has lost, and its receivers need not split anything
    f"{BROKEN}:Starves": {"beside-reno": "worse", "outage": "not worse", "fairness": "not worse"},
    # two flows of Reno keep 0.4 of 20 Mbit/s beside two that give up one segment at a loss
    f"{BROKEN}:FillsBuffer": PASSES | {"bufferbloat": "worse", "beside-reno": "worse"},
    # Savage et al. 1999, 2.1: ten times as fast where each segment is acknowledged in ten parts
    COUNTS_ACKS: PASSES | {"split-acks": "worse"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certify") / "out"


@pytest.mark.slow
@pytest.mark.parametrize(
    "control", FOUND, ids=["reno", "backs", "loss", "starves", "fills", "acks"]
)
def test_a_broken_control_fails_the_condition_that_is_about_it_and_no_other(
    folder: Path, control: str
) -> None:
    only = [word for each in FOUND[control] for word in ("--only", each)]
    # with more seeds more of a fault's consequences are significant, too; for fairness two are few
    seeds = "3" if control.endswith("Starves") else "2"
    words = ["certify", control, "--against", "cubic", "--seeds", seeds, "--json"]
    done = CliRunner().invoke(app, [*words, *only, "--out", str(folder)])
    found = {each["id"]: each["verdict"] for each in json.loads(done.stdout)["conditions"]}
    # two seeds settle little, so what is not worse may be like it or not settled
    assert set(found) == set(FOUND[control])
    assert set(found.values()) <= {"worse", "like", "not settled", "better"}
    assert {each for each, verdict in found.items() if verdict == "worse"} == {
        each for each, verdict in FOUND[control].items() if verdict == "worse"
    }
    assert done.exit_code == (3 if "worse" in found.values() else 0)
