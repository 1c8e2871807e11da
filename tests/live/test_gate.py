"""The gate on real connections: what it refuses, and that traffic goes on whatever befalls it."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from two_a_second import FEW, MANY, TWO_A_SECOND, admitted, at, few_get_in, refuses, stop

pytestmark = pytest.mark.live

CAPABILITIES = 1 << 12 | 1 << 38 | 1 << 39  # linux/capability.h: NET_ADMIN, PERFMON, BPF


def test_an_overload_is_refused_and_the_rest_gets_in(lab):
    assert lab.connect(MANY) == MANY, "without a gate"
    lab.gate(TWO_A_SECOND)
    assert 1 <= admitted(lab) <= FEW
    # the status is renewed at the end of an epoch
    lab.until(lambda: dict(lab.status()["packets"])["session_refused"] >= MANY - FEW, "counted")
    assert dict(lab.status()["packets"])["lease_lapsed"] == 0


def test_who_observes_drops_nothing_and_says_what_it_would(lab):
    lab.gate(TWO_A_SECOND.replace("enforce", "observe"))
    assert lab.connect(MANY) == MANY
    lab.until(lambda: dict(lab.status()["packets"])["would_refuse"] >= MANY - FEW, "counted")


def test_what_is_listed_is_never_refused(lab):
    lab.gate(TWO_A_SECOND + "never_refuse = { ports = [4433] }\n")
    assert lab.connect(MANY) == MANY


def test_downloads_are_held_by_their_syn_ack(lab):
    # what leaves `near` by `wan` for a connection that `far` asks for is the SYN+ACK
    lab.gate(TWO_A_SECOND + "opener = 'syn-ack'\n")
    assert lab.connect(MANY) == MANY, "a SYN is no opener then"


# tide closes where sessions saturate the link; forty handshakes at 10 Mbit/s do not.
def test_tide_refuses_nobody_at_an_idle_link(lab):
    lab.gate("mode = 'enforce'\nlaw = { law = 'tide' }\nshape = '10Mbit'\n")
    for _ in range(3):
        assert lab.connect(MANY) == MANY
    assert dict(lab.status()["packets"])["session_refused"] == 0


# Failing open: each way in which the controller can fail, and traffic that goes on.


# A filter of clsact stays and lets everything pass when the lease is over. A program at tcx is held
# by its process, so that nothing of it is left, but the shaper.
def test_a_killed_controller_lets_everything_pass(lab, hook):
    gate = lab.gate(at(hook) + "shape = '9.5Mbit'\n")
    assert lab.status()["hook"] == hook
    assert ("clsact" in lab.queues()) == (hook == "clsact")
    assert refuses(lab)
    gate.send_signal(signal.SIGKILL)
    gate.wait()
    if hook == "tcx":
        assert lab.programs() == lab.programs("ingress") == []
        assert lab.connect(MANY) == MANY
        removed = lab.within(lab.near, lab.program, "clean")
        assert removed == "removed wan: the shaper (tbf 7d00:)\n"
        return
    time.sleep(1.1)  # the lease
    assert lab.programs() == ["tidegate_gate"]
    assert lab.connect(MANY) == MANY
    lab.gate(at(hook))
    assert refuses(lab), "a new controller takes over what was left"
    assert lab.programs() == ["tidegate_gate"]


def test_a_hung_controller_lets_everything_pass_until_it_goes_on(lab):
    gate = lab.gate(TWO_A_SECOND)
    assert refuses(lab)
    gate.send_signal(signal.SIGSTOP)
    time.sleep(1.1)
    assert lab.connect(MANY) == MANY
    gate.send_signal(signal.SIGCONT)
    lab.until(lambda: few_get_in(lab), "refusing again")


def test_a_full_disk_costs_lines_of_the_log_only(lab):
    lab.gate(TWO_A_SECOND + "log = '/dev/full'\n")
    assert refuses(lab)
    lab.until(lambda: lab.status()["log_lost"] > 0, "counting lost lines")


def test_an_interface_that_goes_and_comes_back(lab):
    gate = lab.gate(TWO_A_SECOND)
    lab.within(lab.near, "ip", "link", "delete", "wan")
    lab.until(lambda: not lab.status()["attached"], "noticing")
    assert "gone" in lab.status()["trouble"]
    assert gate.poll() is None
    lab.cable()
    lab.until(lambda: lab.status()["attached"], "in place again")
    assert refuses(lab)


def test_a_bad_file_changes_nothing_and_a_good_one_does(lab):
    gate = lab.gate(TWO_A_SECOND)
    lab.write(TWO_A_SECOND + "ceiling = 7\n")
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: "ceiling" in lab.status()["trouble"], "refusing the file")
    assert ":7: `ceiling`: 7 is out of range" in lab.status()["trouble"]
    assert refuses(lab), "as before"
    epochs = lab.status()["epochs"]
    lab.write(TWO_A_SECOND.replace("enforce", "observe"))
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["mode"] == "observe", "observing")
    assert lab.status()["trouble"] == ""
    assert lab.status()["epochs"] >= epochs, "the law goes on"
    assert lab.connect(MANY) == MANY


@pytest.mark.compiled
def test_a_reload_that_needs_another_program_leaves_no_gap(lab):
    gate = lab.gate(at("clsact"))
    lab.write(at("clsact") + "ends = 'flow-map'\nquic = 'admit'\n")
    gate.send_signal(signal.SIGHUP)
    time.sleep(1.5)
    assert lab.status()["trouble"] == "", "the new program is in place"
    assert refuses(lab)
    assert lab.programs() == ["tidegate_gate"]


# A file that cannot be taken over: the program and the shaper of before stay, and so do its counts.


def reload_fails(lab, gate, text):
    lab.write(text)
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["trouble"].startswith("reload:"), "refusing the file")


def test_a_reload_whose_program_cannot_be_attached_keeps_the_counts(lab):
    log = lab.folder / "epochs.json"
    # the lease is long, so that the gate does not look at its filters meanwhile
    text = at("clsact").replace("1s", "60s").replace("enforce", "observe") + f"log = '{log}'\n"
    gate = lab.gate(text)
    assert lab.connect(MANY) == MANY
    lab.until(lambda: lab.status()["arrived_total"] >= MANY, "counted")
    lab.take_away("clsact")
    lab.leave_no_place("clsact", "egress")
    reload_fails(lab, gate, text + "quic = 'admit'\n")
    epochs = lab.status()["epochs"]
    lab.until(lambda: lab.status()["epochs"] >= epochs + 2, "going on")
    counted = sum(json.loads(line)["arrived"] for line in log.read_text().splitlines())
    assert counted == lab.status()["arrived_total"], "each opener is counted in one epoch"


def test_a_reload_of_which_one_filter_cannot_be_attached_changes_no_other(lab, hook):
    gate = lab.gate(at(hook) + "ends_of = 'sender'\n")
    refuses(lab)
    lab.until(lambda: lab.status()["arrived_total"] >= MANY, "counted")
    lab.leave_no_place(hook, "ingress")
    before = lab.filters(), lab.at_tcx()
    reload_fails(lab, gate, at(hook) + "ends_of = 'peer'\n")
    assert (lab.filters(), lab.at_tcx()) == before, "the same programs"
    assert refuses(lab), "as before"
    assert lab.status()["arrived_total"] >= MANY


def test_a_reload_that_fails_keeps_the_shaper(lab):
    gate = lab.gate(TWO_A_SECOND + "shape = '9.5Mbit'\n")
    before = lab.queues()
    reload_fails(lab, gate, TWO_A_SECOND + "capacity = '9.5Mbit'\ndqm = { buffer = 40 }\n")
    assert lab.queues() == before


def test_a_filter_that_somebody_takes_away_comes_back(lab, hook):
    lab.gate(at(hook))
    lab.take_away(hook)
    assert lab.connect(MANY) == MANY
    lab.until(lambda: few_get_in(lab), "in place again")


def test_sessions_that_never_end_stop_the_refusing(lab):
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'fixed-rate', rate = '20/s' }\n"
        "flood = { factor = 4, epochs = 3 }\n"
    )
    flood = lab.flood(400, 12)
    lab.until(lambda: lab.status()["alarm"], "alarmed")
    assert lab.connect(10) == 10, "nobody is locked out by a flood"
    flood.kill()


def test_no_more_than_the_ceiling_is_refused(lab):
    lab.gate(TWO_A_SECOND + "ceiling = 0.5\n")
    assert lab.connect(MANY) >= MANY // 2


# What it leaves behind.


def test_it_takes_away_what_it_put_there(lab):
    before = lab.queues()
    stop(lab.gate(at("clsact") + "shape = '9.5Mbit'\n"))
    assert lab.queues() == before
    assert lab.programs() == lab.programs("ingress") == []
    assert not lab.socket.exists()


def test_it_leaves_what_others_put_there(lab):
    lab.tc("qdisc add dev wan clsact")
    gate = lab.gate(at("clsact"))
    lab.tc("qdisc add dev wan root tbf rate 5mbit burst 10kb limit 50kb")
    stop(gate)
    assert "clsact" in lab.queues()
    assert "tbf" in lab.queues()


def test_a_queue_of_others_is_not_replaced(lab):
    lab.tc("qdisc add dev wan root handle 1: bfifo limit 50kb")
    lab.write(TWO_A_SECOND + "shape = '9.5Mbit'\n")
    command = [lab.program, "gate", "--config", str(lab.config)]
    done = subprocess.run(
        ["nsenter", f"--net=/run/netns/{lab.near}", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "the interface has a queue of its own (bfifo)" in done.stderr
    assert "tc qdisc del" in done.stderr
    assert "bfifo" in lab.queues()


def test_it_keeps_three_capabilities(lab):
    gate = lab.gate(TWO_A_SECOND)
    # nsenter becomes the gate
    lines = Path(f"/proc/{gate.pid}/status").read_text().splitlines()
    sets = {
        key: int(value, 16)
        for key, _, value in (line.partition(":") for line in lines)
        if key.startswith("Cap")
    }
    assert sets["CapEff"] == sets["CapPrm"] == CAPABILITIES
    assert sets["CapBnd"] == CAPABILITIES
    assert sets["CapInh"] == sets["CapAmb"] == 0


def metrics(lab, port):
    fetch = (
        "import urllib.request as u;"
        f"print(u.urlopen('http://127.0.0.1:{port}/metrics', timeout=5).read().decode())"
    )
    return lab.within(lab.near, sys.executable, "-c", fetch)


def test_metrics_are_served_on_this_machine_only(lab):
    lab.gate(TWO_A_SECOND + "metrics = '127.0.0.1:9477'\n")
    lab.connect(MANY)
    time.sleep(1.2)
    text = metrics(lab, 9477)
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#")
    refused = 'tidegate_gate_packets_total{interface="wan",fate="session_refused"}'
    assert float(numbers[refused]) >= MANY - FEW
    assert float(numbers['tidegate_gate_enforcing{interface="wan"}']) == 1
    assert "127.0.0.1:9477" in lab.within(lab.near, "ss", "-ltn")


@pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="promtool is not installed: apt-get install -y prometheus",
)
def test_promtool_finds_nothing_wrong_with_the_metrics(lab):
    lab.gate(TWO_A_SECOND + "metrics = '127.0.0.1:9477'\n")
    check = ("promtool", "check", "metrics")
    said = metrics(lab, 9477)
    assert "tidegate_gate_enforcing" in said
    done = subprocess.run(check, input=said, capture_output=True, text=True, check=False)
    # it reads the older format, in which the help of a counter has the counter's whole name
    wrong = [line for line in done.stderr.splitlines() if not line.endswith("no help text")]
    assert wrong == []


def another_interface(lab):
    """Make `wan1` beside `wan`."""
    words = "add wan1 type veth peer name lan1", "set wan1 up"
    for each in words:
        lab.within(lab.near, "ip", "link", *each.split())


def test_one_process_runs_a_gate_at_each_of_several_interfaces(lab):
    another_interface(lab)
    files = {name: lab.folder / f"{name}.toml" for name in ("wan", "wan1")}
    for name, file in files.items():
        socket = f"socket = '{lab.folder / name}.sock'\nmetrics = '127.0.0.1:9478'\n"
        file.write_text(f"interface = '{name}'\n{socket}{TWO_A_SECOND}")
    words = [word for file in files.values() for word in ("--config", str(file))]
    gate = subprocess.Popen(lab.command("gate", *words), stderr=subprocess.PIPE, text=True)
    lab.started.append(gate)
    lab.socket = lab.folder / "wan.sock"
    lab.until(lambda: lab.status().get("epochs", 0) > 0, "in place", gate)
    assert lab.programs() == lab.programs(device="wan1") == ["tidegate_gate"]
    assert refuses(lab)
    text = metrics(lab, 9478)
    for name in files:
        assert f'tidegate_gate_attached{{interface="{name}"}} 1' in text
    assert text.count("# TYPE tidegate_gate_attached") == 1
    # one file is changed for the worse, the other for the better
    files["wan"].write_text(files["wan"].read_text().replace("enforce", "observe"))
    files["wan1"].write_text("law")
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["mode"] == "observe", "observing")
    assert lab.status()["trouble"] == ""
    lab.socket = lab.folder / "wan1.sock"
    lab.until(lambda: lab.status()["trouble"].startswith("reload:"), "refusing the file")
    stop(gate)
    assert lab.programs() == lab.programs(device="wan1") == []


# One socket for the group: it tells of each, and an order is for all of them.
def test_gates_of_one_process_may_share_a_socket(lab):
    another_interface(lab)
    words = []
    for name in ("wan", "wan1"):
        file = lab.folder / f"{name}.toml"
        text = f"interface = '{name}'\nsocket = '{lab.socket}'\nmetrics = ''\n{TWO_A_SECOND}"
        file.write_text(text.replace("enforce", "observe"))
        words += ["--config", str(file)]
    gate = subprocess.Popen(lab.command("gate", *words), stderr=subprocess.PIPE, text=True)
    lab.started.append(gate)

    def ask(*more):
        return lab.within(lab.near, lab.program, *more, "--socket", str(lab.socket), check=False)

    def states():
        return [json.loads(line) for line in ask("status", "--json").splitlines()]

    lab.until(lambda: [each["attached"] for each in states()] == [True, True], "in place", gate)
    assert [each["interface"] for each in states()] == ["wan", "wan1"]
    text = ask("status")
    assert "wan observe, attached" in text
    assert "wan1 observe, attached" in text
    assert ask("gate", "enforce", "--for", "60s").count("refusing for 60s") == 2
    lab.until(lambda: {each["mode"] for each in states()} == {"enforce"}, "enforcing")
    assert refuses(lab)
    stop(gate)
    assert not lab.socket.exists()


def test_if_one_of_several_interfaces_is_taken_none_is_controlled(lab):
    lab.gate(TWO_A_SECOND)
    another_interface(lab)
    words = []
    for name in ("wan1", "wan"):
        file = lab.folder / f"{name}.toml"
        file.write_text(
            f"interface = '{name}'\nsocket = '{lab.folder / name}.sock'\n{TWO_A_SECOND}"
        )
        words += ["--config", str(file)]
    command = lab.command("gate", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "wan: another gate runs at this interface" in done.stderr
    assert lab.programs(device="wan1") == []


def test_the_doctor_looks_at_an_interface(lab):
    # nobody listens: each datagram that leaves is answered by one of ICMP that comes in
    lab.fill(5)
    text = lab.within(lab.near, lab.program, "doctor", "--interface", "wan", "--watch", "2")
    assert "wan: in 100.0 % of the bytes that left a gate sees no sessions" in text
    assert "bytes came in while it was watched, too few" in text, "ICMP hides no session"
    assert "the gate's program loads and runs" in text
    assert "wan: no queue" in text
    assert "set `shape`" in text
    assert "clsact" not in lab.queues()
    assert lab.programs() == lab.programs("ingress") == [], "it takes its counters away"


# The queue.


@pytest.mark.dual_queue
def test_a_shaper_brings_the_queue_here_and_the_dual_queue_reads_it(lab):
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'none' }\nshape = '1Mbit'\nshape_buffer = '60kB'\n"
        "dqm = { x_m = 3, x_M = 3, P_M = 1, measure = 'instantaneous', buffer = 40 }\n"
    )
    assert "tbf 7d00: root" in lab.queues()
    assert "rate 1Mbit" in lab.queues()
    assert lab.connect(10) == 10, "an empty queue loses no connection"
    lab.fill(4)
    assert lab.connect(10) == 0, "2 Mbit/s into 1: the queue is long"
    lab.until(lambda: lab.status()["connections"][1] >= 10, "counted")
    status = lab.status()
    lost = status["connections"][1]
    assert status["arrived_total"] == status["admitted_total"] + lost, "who is dropped is not in"


def test_relief_lets_everything_pass_while_nothing_waits(lab):
    # without relief the law would close: its arrivals far exceed what it takes for completions
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'close-probe', alpha_min = 1, guard = false }\n"
        "shape = '50Mbit'\n"
    )
    time.sleep(3)
    for _ in range(3):
        assert lab.connect(MANY) == MANY
        time.sleep(0.5)
    assert dict(lab.status()["packets"])["session_refused"] == 0
