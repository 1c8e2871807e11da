"""`tidegate against-linux` with real hosts, and in a kernel with a clock of its own."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tidegate.hosts import against, left_over, own_clock
from tidegate.hosts.lab import Lab, obstacle, run

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
    for wrong in ("net.ipv4.no_such=1", "net.core.rmem_max=1", "net.ipv4.tcp_sack=many"):
        asked = [*command, "--sysctl", wrong]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert wrong in done.stderr
        assert "Real hosts take" not in done.stderr
        assert "Traceback" not in done.stderr


ENDLESS = SCENARIO.replace('"3s"', '"60s"').replace('size = "20kB"', 'size = "9MB"')


def begun(folder):
    """Begin a comparison of a minute; return it when its hosts and its link are there."""
    file = folder / "scenario.toml"
    file.write_text(ENDLESS, encoding="utf-8")
    words = ["against-linux", str(file), "--seeds", "1", "--out", str(folder / "out")]
    command = [sys.executable, "-m", "tidegate", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(processes(process.pid)) < 5:
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.1)
    return process


def processes(lab):
    """Return the processes of a lab: a link, two servers and those that open sessions."""
    inside = [f"tg{lab}-{end}" for end in "lmr"]
    there = [name for name in inside if name in run("ip", "netns", "list")]
    found = {each for name in there for each in run("ip", "netns", "pids", name).split()}
    return {int(each) for each in found} | set(left_over.links(lab))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing(tmp_path, number):
    process = begun(tmp_path)
    there = processes(process.pid)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert f"tg{process.pid}-" not in run("ip", "netns", "list")
    assert not any(Path(f"/proc/{each}").exists() for each in there)


# Killed, it can remove nothing: the next one does.
def test_what_a_killed_comparison_has_left_is_removed_by_the_next(tmp_path):
    process = begun(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    there = processes(process.pid)
    assert len(there) >= 5
    with Lab():
        assert f"tg{process.pid}-" not in run("ip", "netns", "list")
    assert not any(Path(f"/proc/{each}").exists() for each in there)


# By hand: ten downloads of 1 MB that are given up after 2 s over 10 Mbit/s, of which a tenth is
# 250 kB or 172 packets in that time. Each is sent more than ten, and all
# together no more than half as many again as the link carries in that time.
def test_downloads_that_are_given_up_count_what_was_sent(tmp_path):
    at = ", ".join(f'"{100 + 10 * each}ms"' for each in range(10))
    given_up = SCENARIO.replace('"100ms", "600ms", "1100ms"', at)
    given_up = given_up.replace('size = "20kB"', 'size = "1MB"\npatience = "2s"')
    file = tmp_path / "scenario.toml"
    file.write_text(given_up, encoding="utf-8")
    words = ["against-linux", str(file), "--seeds", "1", "--class", "web"]
    command = [sys.executable, "-m", "tidegate", *words, "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    flows = against.read(tmp_path / "out" / "real-1.csv")
    assert flows["gave_up_s"].is_not_null().all()
    assert flows["sent_packets"].min() > 10
    assert 1000 < flows["sent_packets"].sum() < 10 * 172 * 1.5
