"""What `tidegate advise` says to type at a router works there, in both directions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.hosts import own_clock

pytestmark = [pytest.mark.live, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
PROBE = (sys.executable, "-m", "tools.live.advised")
CLOCK = (sys.executable, "-m", "tools.own_clock", "--seconds", "300", "--")
LAWS = {"cake": "cake", "fq_codel": "fq_codel"}

# The link has 10 and 2 Mbit/s, and the shaper 5 % less. By hand: a frame of Ethernet of 1514 B, as
# tc counts it, carries 1448 B of payload of TCP (1500 - 20 - 32 B).
PAYLOAD = 1448 / 1514
DOWN_BPS, UP_BPS = 9.5e6 * PAYLOAD, 1.9e6 * PAYLOAD


def tried(*words: str, clock: bool) -> dict[str, object]:
    command = [*(CLOCK if clock else ()), *PROBE, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if "qdisc kind is unknown" in said:
        pytest.skip("this kernel has no fq_codel, HTB or CAKE")
    assert done.returncode == 0, said
    return json.loads(done.stdout)


@pytest.mark.parametrize("clock", [True, False], ids=["own-clock", "this-kernel"])
@pytest.mark.parametrize("ifb", [(), ("--ifb",)], ids=["inner-interface", "ifb"])
@pytest.mark.parametrize("control", LAWS)
def test_the_lines_shape_both_directions_and_can_be_taken_back(control, ifb, clock):
    if os.geteuid() != 0:
        pytest.skip("namespaces need root: run make test as root")
    if clock and not (own_clock.place() / "linux").exists():
        pytest.skip("its kernel is not compiled")
    found = tried(control, *ifb, clock=clock)
    law = LAWS[control]
    at = {(each["kind"], each["dev"]): each for each in found["qdiscs"]}
    for interface in ("wan0", "ifb-wan0" if ifb else "lan0"):
        assert at[law, interface]["packets"] > 500
    # a shaper lets nothing more through; TCP may have a little less
    assert 0.9 * DOWN_BPS <= found["down_bps"] <= 1.02 * DOWN_BPS
    assert 0.9 * UP_BPS <= found["up_bps"] <= 1.02 * UP_BPS
    assert law not in found["left"]
    assert "ingress" not in found["left"]
    assert "ifb" not in found["left"]
