"""`tidegate against-linux` with real hosts, and in a kernel with a clock of its own."""

import json
import subprocess
import sys

import pytest

from tidegate.hosts import own_clock
from tidegate.hosts.lab import obstacle, run

pytestmark = pytest.mark.live

SCENARIO = """
name = "both ways"
duration = "3s"
[topology.dumbbell]
pairs = 1
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "100packets" }
[traffic.web]
arrivals = { at = ["100ms", "600ms", "1100ms"] }
size = "20kB"
direction = "download"
transport = { tcp = { profile = "linux" } }
[traffic.bulk]
arrivals = { at = ["0s"] }
size = "300kB"
transport = { tcp = { profile = "linux" } }
"""


@pytest.fixture(scope="module", autouse=True)
def _possible():
    if reason := obstacle(gate=False):
        pytest.skip(reason)


# By hand: three downloads of 20 kB and an upload of 300 kB, and each takes two round trips of 40 ms
# and the time of its data on the link at least: 16 and 240 ms.
@pytest.mark.parametrize("clock", [(), ("--own-clock",)])
def test_the_same_flows_pass_between_real_and_simulated_hosts(tmp_path, clock):
    if clock and not (own_clock.place() / "linux").exists():
        pytest.skip("its kernel is not compiled")
    before = run("ip", "netns", "list")
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    words = ["against-linux", str(file), "--seeds", "1", "--out", str(tmp_path / "out"), "--json"]
    command = [sys.executable, "-m", "tidegate", *words, *clock]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert ("its own clock" in found["kernel"]) == bool(clock)
    rows = {(row["of"], row["name"]): row for row in found["measures"]}
    for of, flows, megabytes, least in (("web", 3, 0.06, 0.096), ("bulk", 1, 0.3, 0.32)):
        for who in ("real", "simulated"):
            assert rows[of, "flows"][who]["mean"] == flows
            assert rows[of, "completed"][who]["mean"] == 100
            delivered = rows[of, "delivered_mbit_s"][who]["mean"]
            assert delivered == pytest.approx(8 * megabytes / 3)
            assert rows[of, "fct_mean_s"][who]["mean"] > least
    assert run("ip", "netns", "list") == before


# By hand: a receive buffer of 4 kB lets less than 4 kB leave in a round trip of 40 ms, so 300 kB
# take more than the three seconds of the run. The simulated hosts have no such setting.
def test_a_sysctl_is_that_of_the_real_hosts(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    small = "net.ipv4.tcp_rmem=4096 4096 4096"
    words = ["against-linux", str(file), "--seeds", "1", "--class", "bulk", "--json"]
    command = [sys.executable, "-m", "tidegate", *words, "--out", str(tmp_path / "out")]
    asked = [*command, "--sysctl", small]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sysctls"] == [small]
    completed = next(row for row in found["measures"] if row["name"] == "completed")
    assert completed["real"]["mean"] == 0
    assert completed["simulated"]["mean"] == 100
    unknown = [*command, "--sysctl", "net.ipv4.no_such=1"]
    done = subprocess.run(unknown, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "net.ipv4.no_such" in done.stderr.replace("/", ".")
    assert "Traceback" not in done.stderr
