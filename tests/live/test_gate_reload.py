"""A file that changes under a running gate, and what an operator types beside it."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from test_gate_trial import OBSERVING, order
from two_a_second import MANY, TWO_A_SECOND, refuses
from two_hosts import FAR, NEAR

pytestmark = pytest.mark.live


def reload(lab, gate, text):
    """Let a gate take over another file, and wait until two epochs have ended with it."""
    lab.write(text)
    gate.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    epochs = lab.status()["epochs"]
    lab.until(lambda: lab.status()["epochs"] >= epochs + 2, "going on")


# The kernel compares the bits of the prefix alone: to it the two spellings are one network.
def test_a_network_that_is_written_otherwise_is_never_refused_still(lab):
    network = FAR.rpartition(".")[0]

    def never(address):
        return f"{TWO_A_SECOND}never_refuse = {{ networks = ['{address}/24'] }}\n"

    gate = lab.gate(never(FAR))
    assert lab.connect(MANY) == MANY
    reload(lab, gate, never(f"{network}.0"))
    assert lab.status()["trouble"] == ""
    assert lab.connect(MANY) == MANY
    reload(lab, gate, TWO_A_SECOND)
    assert refuses(lab), "what is no longer listed"


# Shown by another number of bits than the programs have, a client is somebody else.
def test_a_client_is_a_network_from_the_reload_on(lab):
    gate = lab.gate(TWO_A_SECOND + "who = true\n")
    lab.connect(MANY)
    here = {NEAR, FAR}
    lab.until(lambda: {each["address"] for each in lab.status()["clients"]} & here, "shown")
    reload(lab, gate, TWO_A_SECOND + "who = true\nclient_ipv4 = 24\n")
    assert lab.status()["trouble"] == ""
    lab.connect(MANY)
    network = FAR.rpartition(".")[0] + ".0/24"
    lab.until(lambda: lab.status()["clients"], "shown")
    assert {each["address"] for each in lab.status()["clients"]} == {network}


def test_a_file_that_changes_while_the_interface_is_away_holds_when_it_is_back(lab):
    gate = lab.gate(TWO_A_SECOND + "shape = '20Mbit'\n")
    lab.within(lab.near, "ip", "link", "delete", "wan")
    lab.until(lambda: not lab.status()["attached"], "noticing")
    lab.write(TWO_A_SECOND + "shape = '30Mbit'\n")
    gate.send_signal(signal.SIGHUP)
    lab.cable()
    lab.until(lambda: lab.status()["attached"] and not lab.status()["trouble"], "in place again")
    assert "30Mbit" in lab.queues()


# No time at all lets nobody look, and would end the trial that runs.
def test_a_trial_without_a_time_is_refused_and_ends_no_other(lab):
    lab.gate(OBSERVING)
    order(lab, "enforce", "--for", "10m")
    none = order(lab, "enforce", "--for", "0s")
    assert none.returncode == 1
    assert "too short: a second at least" in none.stderr
    assert refuses(lab)


# A reader that goes away, or a full disk, is no crash.
@pytest.mark.parametrize("words", [("status", "--json"), ("doctor",)])
def test_an_answer_that_nobody_reads_is_no_crash(lab, words):
    lab.gate(OBSERVING)
    where = ("--socket", str(lab.socket)) if "status" in words else ()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            lab.command(*words, *where),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    assert "panicked" not in done.stderr
    assert done.returncode in (0, 1)


def test_who_observes_where_nothing_is_hears_of_it_at_once(lab):
    for words, what in [
        (("nope",), "nope: no such interface"),
        (("wan", "--out", "/nonexistent/gate.toml"), "/nonexistent: there is no such folder"),
    ]:
        command = lab.command("gate", "observe", *words, "--for", "10min")
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, what in done.stderr) == (2, True), done.stderr
