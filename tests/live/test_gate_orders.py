"""What a running gate does not do as it is asked, or undone by others: it says so, and when."""

import signal
import subprocess

import pytest
from test_gate_trial import OBSERVING, observe, order
from two_a_second import MANY, TWO_A_SECOND, refuses

pytestmark = pytest.mark.live

SHAPED = TWO_A_SECOND + "shape = '20Mbit'\n"


def trouble(lab):
    return lab.status()["trouble"]


# Who observes without a file was told that nobody is refused.
def test_a_gate_without_a_file_refuses_nobody_whatever_is_ordered(lab):
    observe(lab)
    for words in (("enforce", "--for", "10s"), ("confirm",)):
        done = order(lab, *words)
        assert done.returncode == 1
        assert "started to observe alone" in done.stderr
        assert f"tidegated gate --config {lab.folder / 'gate-wan.toml'}" in done.stderr
    assert lab.status()["mode"] == "observe"
    assert lab.connect(MANY) == MANY


# An operator who was told that the gate does not answer does something else meanwhile.
def test_an_order_that_was_reported_as_failed_is_not_obeyed_later(lab):
    gate = lab.gate(OBSERVING)
    gate.send_signal(signal.SIGSTOP)
    failed = order(lab, "enforce", "--for", "10min")
    gate.send_signal(signal.SIGCONT)
    assert failed.returncode == 1
    assert "does not answer" in failed.stderr
    lab.until(lambda: "`enforce 600000` is not obeyed" in lab.log(), "saying so")
    assert lab.status()["mode"] == "observe"
    assert lab.connect(MANY) == MANY


# PPPoE begins again with another interface. An order to a gate of two directions is obeyed in both.
def test_an_order_to_a_gate_without_its_interface_holds_when_it_is_back(lab):
    lab.gate(OBSERVING)
    lab.within(lab.near, "ip", "link", "delete", "wan")
    done = order(lab, "enforce", "--for", "60s")
    assert done.returncode == 0
    assert "wan is away: it will refuse when it is back, until 60s from now" in done.stdout
    assert not lab.status()["attached"]
    confirmed = order(lab, "confirm").stdout
    assert "wan is away: it will refuse when it is back, until the gate ends" in confirmed
    lab.within(lab.near, "ip", "link", "add", "wan", "type", "veth", "peer", "name", "peer")
    assert "refuses already" in order(lab, "enforce").stderr
    lab.until(lambda: lab.status()["attached"], "back")
    assert lab.status()["mode"] == "enforce"


def test_a_reload_says_which_order_it_ends(lab):
    gate = lab.gate(OBSERVING)
    order(lab, "enforce", "--for", "10min")
    order(lab, "confirm")
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["mode"] == "observe", "observing")
    lab.until(lambda: "the order `gate confirm` ends with the reload" in lab.log(), "said")
    lab.write(TWO_A_SECOND)
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["mode"] == "enforce", "refusing")
    reverted = order(lab, "revert").stdout
    assert "nothing is refused until the gate ends or reads its file again" in reverted
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: "the order `gate revert` ends with the reload" in lab.log(), "said")
    assert refuses(lab)


def test_a_shaper_that_is_removed_is_put_back(lab):
    lab.gate(SHAPED)
    lab.tc("qdisc del dev wan root")
    lab.until(lambda: "20Mbit" in lab.queues(), "put back")
    assert trouble(lab) == ""


# Two programs that undo each other's work would go on for ever, and lose packets at each turn.
def test_a_shaper_that_is_removed_again_is_missed_aloud(lab):
    gate = lab.gate(SHAPED)
    lab.tc("qdisc del dev wan root")
    lab.until(lambda: "20Mbit" in lab.queues(), "put back")
    lab.tc("qdisc del dev wan root")
    lab.until(lambda: "the shaper was removed again" in trouble(lab), "noticing")
    assert "20Mbit" not in lab.queues()
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: "20Mbit" in lab.queues(), "put back by a reload")
    lab.until(lambda: trouble(lab) == "", "well")


def test_a_queue_of_somebody_else_in_place_of_the_shaper_is_left_alone(lab):
    gate = lab.gate(SHAPED)
    lab.tc("qdisc replace dev wan root handle 5: bfifo")
    lab.until(lambda: "another queue (bfifo) stands" in trouble(lab), "noticing")
    # a new MTU is a reason to adapt the shaper, and not that queue
    lab.within(lab.near, "ip", "link", "set", "wan", "mtu", "1400")
    assert refuses(lab), "session control goes on"
    gate.send_signal(signal.SIGTERM)
    assert gate.wait(timeout=120) == 0
    assert "bfifo 5:" in lab.queues()


# A shaper loses packets from the start on: who only wants to look hears of it.
def test_a_gate_that_observes_says_that_its_shaper_holds(lab):
    lab.gate(SHAPED.replace("enforce", "observe"))
    assert "`shape` holds in observe mode too" in lab.log()


def test_a_time_or_a_rate_without_a_unit_is_told_the_units(lab):
    for words, units in [
        (("enforce", "--for", "3"), "ps, ns, us, ms, s, min, h"),
        (("observe", "wan", "--rate", "5"), "Mbit"),
    ]:
        done = subprocess.run(
            lab.command("gate", *words), capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 2
        assert "has no unit" in done.stderr
        assert units in done.stderr


def test_who_observes_for_no_time_or_a_link_too_slow_hears_of_it_at_once(lab):
    for words, what in [(("--for", "0s"), "too short"), (("--rate", "1kbit"), "10kbit at least")]:
        command = lab.command("gate", "observe", "wan", *words)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, what in done.stderr) == (2, True), done.stderr


# A gate is restarted under the eyes of who watches it. Sockets have their usual place, of this
# process alone.
def test_who_watches_goes_on_while_no_gate_runs(lab):
    screen = lab.folder / "screen"
    room = ("unshare", "--mount", "--propagation", "private", "sh", "-euc")
    script = f"""mkdir -p /run/tidegate; mount -t tmpfs none /run/tidegate
        exec {lab.program} status --watch > {screen}"""
    watching = lab.start(lab.near, *room, script)
    lab.until(lambda: screen.exists() and "no gate runs here" in screen.read_text(), "shown")
    seen = len(screen.read_text())
    lab.until(lambda: "no gate runs here" in screen.read_text()[seen:], "shown again", watching)
    assert watching.poll() is None


# The kernel refuses everything to who has no rights, which says nothing of the kernel.
def test_a_doctor_without_rights_says_so_and_guesses_nothing(lab):
    by = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    done = subprocess.run(
        lab.command("doctor", by=by), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert "missing capabilities: CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF" in done.stdout
    assert "run as root" in done.stdout
    assert "6.2" not in done.stdout, "an old kernel is a guess"
    assert "tcx" not in done.stdout
