"""A first day with a gate: observe without a file, and refuse for a while."""

import signal
import subprocess
import time

import pytest
from two_a_second import MANY, TWO_A_SECOND, refuses

pytestmark = pytest.mark.live

OBSERVING = TWO_A_SECOND.replace("enforce", "observe")


def order(lab, *words):
    command = [lab.program, "gate", *words, "--socket", str(lab.socket)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def observe(lab, *words):
    """Start a gate without a file."""
    process = lab.start(
        lab.near,
        *(lab.program, "gate", "observe", "wan", "--socket", str(lab.socket)),
        *("--out", str(lab.folder / "gate-wan.toml"), *words),
    )
    lab.until(lambda: lab.status().get("epochs"), "in place", process)
    return process


# 10 Mbit/s of UDP into a shaper of 5 Mbit/s fill the link. It is watched until that is over:
# a slow machine takes seconds to begin.
def test_who_observes_without_a_file_gets_one(lab):
    shaper = "qdisc add dev wan root tbf rate 5mbit burst 10kb limit 50kb"
    lab.tc(shaper)
    before = lab.queues()
    process = observe(lab)
    assert lab.connect(MANY) == MANY, "nothing is refused"
    fill = (
        "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "began, sent = time.monotonic(), 0\n"
        "while (past := time.monotonic() - began) < 4:\n"
        "    while sent < 1000 * past: s.sendto(bytes(1200), ('10.77.0.2', 9)); sent += 1\n"
        "    time.sleep(0.001)"
    )
    lab.start(lab.near, "python3", "-c", fill).wait(timeout=60)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "would have been refused; nobody was" in text
    assert 'suggested: at wan: law = { law = "tide" }, capacity = ' in text
    written = lab.folder / "gate-wan.toml"
    assert f"written: {written}" in text
    capacity = text.split('capacity = "')[1].split("Mbit")[0]
    assert 4.5 <= float(capacity) <= 5.5, "the rate of the shaper"
    checked = lab.within(lab.near, lab.program, "gate", "--config", str(written), "--check")
    assert "valid, for interface wan" in checked
    assert lab.queues() == before
    assert lab.programs() == lab.programs("ingress") == []


def test_an_idle_link_tells_no_rate_and_the_time_ends_it_too(lab):
    process = observe(lab, "--for", "4s")
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "full 0 % of the time" in text
    assert "close-probe" in text
    assert (lab.folder / "gate-wan.toml").exists()


def test_a_file_that_is_there_is_not_replaced(lab):
    there = lab.folder / "gate-wan.toml"
    there.write_text("mine")
    command = lab.command("gate", "observe", "wan", "--out", str(there))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "this file exists" in done.stderr
    assert there.read_text() == "mine"


def test_a_trial_that_nobody_confirms_ends_by_itself(lab):
    lab.gate(OBSERVING)
    assert lab.connect(MANY) == MANY
    done = order(lab, "enforce", "--for", "4s")
    assert "wan: refusing for 4s, then observing again" in done.stdout
    assert refuses(lab)
    lab.until(lambda: lab.status()["mode"] == "enforce", "shown")
    assert 0 < lab.status()["trial_s"] <= 4
    lab.until(lambda: lab.status()["mode"] == "observe", "over")
    assert lab.status()["trial_s"] is None
    assert lab.connect(MANY) == MANY
    late = order(lab, "confirm")
    assert late.returncode == 1
    assert "there is no trial to confirm" in late.stderr


def test_a_trial_that_is_confirmed_goes_on_until_it_is_reverted(lab):
    lab.gate(OBSERVING)
    order(lab, "enforce", "--for", "2s")
    confirmed = order(lab, "confirm")
    assert 'set `mode = "enforce"` in' in confirmed.stdout
    time.sleep(3)
    assert refuses(lab)
    again = order(lab, "enforce")
    assert again.returncode == 1
    assert "refuses already" in again.stderr
    assert "observing; nothing is refused" in order(lab, "revert").stdout
    assert lab.connect(MANY) == MANY


# The file says what holds: a reload ends a trial.
def test_a_reload_ends_a_trial(lab):
    gate = lab.gate(OBSERVING)
    order(lab, "enforce", "--for", "10m")
    assert refuses(lab)
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["mode"] == "observe", "observing")
    assert lab.status()["trial_s"] is None
    assert lab.connect(MANY) == MANY


def test_a_killed_gate_ends_a_trial(lab):
    gate = lab.gate(OBSERVING)
    order(lab, "enforce", "--for", "10m")
    assert refuses(lab)
    gate.kill()
    gate.wait()
    time.sleep(1.1)  # the lease
    assert lab.connect(MANY) == MANY
