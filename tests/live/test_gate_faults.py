"""What an operator met: other programs at the interface, and an interface that changes."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from tools.live.lateness import TooBusy
from two_a_second import FEW, MANY, TWO_A_SECOND, admitted, at, few_get_in, refuses, stop
from two_hosts import AGAIN_S

pytestmark = pytest.mark.live

# the capabilities that the unit of systemd grants
UNIT = ("setpriv", "--bounding-set=-all,+bpf,+net_admin,+perfmon")


# A program of somebody else has the place. The gate may not ask what it is called by its id, as
# that takes more rights than it has.


def foreign_program(lab):
    source, built = lab.folder / "foreign.c", lab.folder / "foreign.o"
    source.write_text(
        'int foreign(void *packet) __attribute__((section("tc"), used));\n'
        "int foreign(void *packet) { return -1; }\n"
    )
    command = ["clang", "-O2", "-target", "bpf", "-c", str(source), "-o", str(built)]
    subprocess.run(command, check=True)
    return built


@pytest.mark.skipif(
    shutil.which("clang") is None, reason="clang is not installed: apt-get install -y clang"
)
@pytest.mark.parametrize("side", ["egress", "ingress"])
def test_a_program_of_others_is_not_replaced(lab, side):
    lab.tc("qdisc add dev wan clsact")
    command = f"filter add dev wan {side} prio 7700 handle 1 bpf da obj"
    lab.within(lab.near, "tc", *command.split(), str(foreign_program(lab)), "sec", "tc")
    before = lab.filters(side)
    assert "foreign" in before
    done = lab.attempt(at("clsact"), UNIT)
    assert done.returncode == 1
    assert f"at {side}, priority 7700 already" in done.stderr
    assert "set another `priority`" in done.stderr
    assert lab.filters(side) == before
    assert "tidegate" not in lab.filters("egress") + lab.filters("ingress")


# A gate takes the place of the filters that one at clsact has left. At tcx, the default where the
# kernel has it, it takes them away.
def test_with_the_rights_of_the_unit_a_gate_takes_over_what_was_left(lab):
    gate = lab.gate(at("clsact"), UNIT)
    assert refuses(lab)
    gate.kill()
    gate.wait()
    gate = lab.gate(TWO_A_SECOND, UNIT)
    assert lab.programs() == ["tidegate_gate"]
    assert refuses(lab)
    stop(gate)
    assert lab.programs() == lab.programs("ingress") == []


# linux/bpf.h: a new program is put before all others, and one that a reload replaces keeps its
# place. Those of others run behind them.
@pytest.mark.tcx
@pytest.mark.compiled
def test_at_tcx_the_programs_come_first_and_those_of_others_stay(lab):
    lab.put_at_tcx("early", "-1")
    shaped = at("tcx") + "shape = '10Mbit'\n"
    gate = lab.gate(shaped, UNIT)
    assert lab.programs() == ["tidegate_gate", "early"]
    lab.put_at_tcx("late", "-1")
    assert lab.programs() == ["late", "tidegate_gate", "early"]
    # the new program has other maps, and takes the place of the old one
    lab.write(shaped + "quic = 'admit'\ndqm = { buffer = 40 }\n")
    gate.send_signal(signal.SIGHUP)
    lab.until(lambda: lab.status()["connections"], "with a dual queue")
    assert lab.programs() == ["late", "tidegate_gate", "early"]
    assert lab.programs("ingress") == ["tidegate_ends"]
    assert refuses(lab)
    stop(gate)
    assert lab.programs() == ["late", "early"]


# A filter with a lower priority number that accepts a packet ends the search for the gate's, and so
# does a program at tcx before the gate's (TCX_PASS is 0). The gate may not ask for its name.
def test_packets_that_pass_by_the_gate_are_reported(lab, hook):
    lab.gate(at(hook), UNIT)
    if hook == "tcx":
        lab.put_at_tcx("foreign", "0")
    else:
        accept = "filter add dev wan egress prio 1 bpf da bytecode"
        lab.within(lab.near, "tc", *accept.split(), "1,6 0 0 0")

    send = (
        "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "while True: s.sendto(bytes(200), ('10.77.0.2', 9)); time.sleep(0.01)"
    )
    lab.start(lab.near, sys.executable, "-c", send)

    def noticed():
        return "does not see" in lab.status()["trouble"]

    lab.until(noticed, "reporting it")
    assert lab.status()["bypassed_share"] > 0.9
    if hook == "tcx":
        assert re.search(r"the BPF program \d+ at egress decides first", lab.status()["trouble"])
        return
    assert "a bpf filter" in lab.status()["trouble"]
    assert "at egress, priority 1 decides first" in lab.status()["trouble"]
    lab.tc("filter delete dev wan egress prio 1")
    lab.until(lambda: not lab.status()["trouble"], "seeing them again")


def test_a_second_gate_at_an_interface_does_not_start(lab):
    gate = lab.gate(TWO_A_SECOND)
    other = lab.folder / "other.sock"
    text = lab.config.read_text().replace(str(lab.socket), str(other))
    (lab.folder / "other.toml").write_text(text)
    command = lab.command("gate", "--config", str(lab.folder / "other.toml"))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "wan: another gate runs at this interface" in done.stderr
    assert gate.poll() is None
    assert refuses(lab)


# The interface has queues of others, which stay as they are: a router shapes with them already.


@pytest.mark.parametrize(
    "queue", ["htb default 10", "fq_codel", "cake bandwidth 10Mbit"], ids=lambda it: it.split()[0]
)
def test_a_gate_stands_before_queues_of_others(lab, queue):
    add = ("tc", "qdisc", "add", "dev", "wan", "root", "handle", "1:", *queue.split())
    if "unknown" in lab.within(lab.near, "sh", "-c", f"{' '.join(add)} 2>&1", check=False):
        pytest.skip(f"this kernel has no {queue.split()[0]}")
    if "htb" in queue:
        command = "class add dev wan parent 1: classid 1:10 htb rate 10Mbit"
        lab.within(lab.near, "tc", *command.split())
    before = lab.queues()
    done = lab.attempt(TWO_A_SECOND + "shape = '9Mbit'\n")
    assert done.returncode == 1
    assert "the interface has a queue of its own" in done.stderr
    assert "set `capacity` to its rate in place of `shape`" in done.stderr
    gate = lab.gate(TWO_A_SECOND + "capacity = '10Mbit'\n")
    assert refuses(lab)
    assert lab.status()["queue"] in before
    stop(gate)
    assert lab.queues() == before


# The interface changes.


def test_a_larger_mtu_loses_nothing_at_the_shaper(lab):
    lab.gate(TWO_A_SECOND + "shape = '9.5Mbit'\n")
    for name in (lab.near, lab.far):
        lab.within(name, "ip", "link", "set", "wan", "mtu", "9000")
    receive = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(8)\n"
        "s.bind(('10.77.0.2', 9)); print('ready', flush=True); print(len(s.recv(9000)))"
    )
    receiver = lab.start(lab.far, sys.executable, "-c", receive)
    assert receiver.stdout.readline() == "ready\n"
    send = (
        "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for _ in range(20): s.sendto(bytes(8900), ('10.77.0.2', 9)); time.sleep(0.1)"
    )
    lab.start(lab.near, sys.executable, "-c", send)
    assert receiver.stdout.readline() == "8900\n"
    assert "rate 9500Kbit" in lab.queues()


def rename(lab, old, new):
    for words in (("set", old, "down"), ("set", old, "name", new), ("set", new, "up")):
        lab.within(lab.near, "ip", "link", *words)


def test_a_renamed_interface_stays_controlled_and_is_put_back(lab):
    gate = lab.gate(TWO_A_SECOND + "shape = '9.5Mbit'\n")
    before = lab.within(lab.far, "tc", "qdisc", "show", "dev", "wan")
    rename(lab, "wan", "uplink")
    lab.until(lambda: "is called uplink now" in lab.status()["trouble"], "noticing")
    assert lab.status()["attached"]
    lab.until(lambda: few_get_in(lab), "refusing there")
    stop(gate)
    assert lab.queues("uplink") == before.replace("wan", "uplink")
    assert lab.programs("egress", "uplink") == lab.programs("ingress", "uplink") == []


def test_another_interface_that_takes_the_name_is_controlled_instead(lab):
    lab.gate(TWO_A_SECOND)
    rename(lab, "wan", "uplink")
    lab.within(lab.near, "ip", "link", "add", "wan", "type", "veth", "peer", "lan")
    lab.within(lab.near, "ip", "link", "set", "wan", "up")
    lab.until(lambda: lab.programs() == ["tidegate_gate"], "there")
    assert lab.programs("egress", "uplink") == []
    lab.until(lambda: not lab.status()["trouble"], "in order")


def test_clean_removes_what_is_ours_whatever_it_is_called_now(lab):
    untouched = lab.queues()
    gate = lab.gate(at("clsact") + "shape = '9.5Mbit'\n")
    busy = subprocess.run(lab.command("clean"), capture_output=True, text=True, check=False)
    assert busy.returncode == 1
    assert "wan: a gate runs here, and nothing was removed" in busy.stderr
    assert refuses(lab)
    gate.kill()
    gate.wait()
    rename(lab, "wan", "uplink")
    removed = lab.within(lab.near, lab.program, "clean")
    for line in ("tidegate_gate:[", "tidegate_ends:[", "the shaper (tbf 7d00:)", "(clsact)"):
        assert line in removed
    assert lab.queues("uplink") == untouched.replace("wan", "uplink")
    assert lab.within(lab.near, lab.program, "clean") == "nothing of tidegate was left\n"


def test_clean_leaves_what_others_put_there(lab):
    gate = lab.gate(at("clsact"))
    gate.kill()
    gate.wait()
    mine = "filter add dev wan egress prio 5 protocol ip u32 match u32 0 0"
    lab.within(lab.near, "tc", *mine.split())
    lab.within(lab.near, lab.program, "clean", "--interface", "wan")
    assert "u32" in lab.filters()
    assert "tidegate" not in lab.filters()
    assert "clsact" in lab.queues()


def test_an_interface_that_does_not_exist_yet_is_waited_for(lab):
    lab.within(lab.near, "ip", "link", "delete", "wan")
    gate = lab.begin(TWO_A_SECOND)
    lab.until(lambda: "no such interface" in lab.status().get("trouble", ""), "waiting", gate)
    assert "the gate waits for it" in lab.log()
    lab.cable()
    lab.until(lambda: lab.status()["attached"], "in place", gate)
    lab.until(lambda: few_get_in(lab), "refusing")


# The clock of a container may be another one than the kernel's. Behind it by more than the lease,
# every lease would have lapsed when it is written; a kernel that has just started has no hour.
@pytest.mark.parametrize("offset", [3600, -20])
def test_in_a_time_namespace_it_refuses_and_fails_open(lab, offset):
    inside = ("unshare", "--time", "--fork", "--kill-child", "--monotonic", str(offset))
    gate = lab.gate(at("clsact"), inside)
    assert refuses(lab)
    assert dict(lab.status()["packets"])["lease_lapsed"] == 0
    gate.kill()
    gate.wait()
    time.sleep(1.3)
    assert "tidegate_gate" in lab.filters()
    assert lab.connect(MANY) == MANY


# Refusals where they do no harm.


def half_open(lab):
    return len(lab.within(lab.near, "ss", "-Htn", "state", "syn-recv").splitlines())


# The SYN that comes in is dropped, so the server never answers it: it has no half-open connection.
def test_a_refused_download_leaves_nothing_half_open_at_the_server(lab):
    lab.serve(lab.near)
    assert lab.download(MANY) == MANY, "without a gate"
    gate = lab.gate(TWO_A_SECOND)
    assert 1 <= admitted(lab, lab.download) <= FEW
    assert half_open(lab) == 0
    stop(gate)
    time.sleep(2)
    lab.gate(TWO_A_SECOND + "refuse_at = 'egress'\n")
    begun = time.monotonic()
    assert 1 <= admitted(lab, lab.download) <= FEW
    found, took_s = half_open(lab), time.monotonic() - begun
    # after a second its SYN+ACK is sent again, and dropped again: Linux forgets the connection
    if found < MANY - FEW and took_s >= AGAIN_S:
        raise TooBusy(f"half-open connections were counted after {took_s:.2f} s")
    assert found >= MANY - FEW, "the SYN+ACK is dropped on its way back"
    time.sleep(AGAIN_S)
    assert half_open(lab) == 0


# The dual queue refuses a download there too: 2 Mbit/s into 1 make the queue long.
@pytest.mark.dual_queue
@pytest.mark.parametrize("refuse_at", ["ingress", "egress"])
def test_the_dual_queue_leaves_nothing_half_open_at_the_server(lab, refuse_at):
    lab.serve(lab.near)
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'none' }\nshape = '1Mbit'\nshape_buffer = '60kB'\n"
        "dqm = { x_m = 3, x_M = 3, P_M = 1, measure = 'instantaneous', buffer = 40 }\n"
        f"refuse_at = '{refuse_at}'\n"
    )
    assert lab.download(10) == 10, "an empty queue loses no connection"
    lab.fill(6)
    assert lab.download(MANY) == 0
    assert half_open(lab) == (0 if refuse_at == "ingress" else MANY)
    lab.until(lambda: lab.status()["connections"][1] >= MANY, "counted")


def test_ports_of_management_are_never_refused_unless_asked(lab):
    lab.serve(port=22)
    gate = lab.gate(TWO_A_SECOND)
    assert refuses(lab)
    assert lab.connect(MANY, port=22) == MANY
    stop(gate)
    lab.gate(TWO_A_SECOND + "never_refuse = { management = false }\n")
    assert admitted(lab, partial(lab.connect, port=22)) <= FEW


def test_a_gate_starts_where_another_has_the_usual_port_of_metrics(lab):
    hold = (
        "import socket, time; s = socket.create_server(('127.0.0.1', 9477)); "
        "print('held', flush=True); time.sleep(60)"
    )
    holder = lab.start(lab.near, sys.executable, "-c", hold)
    assert holder.stdout.readline() == "held\n"
    lab.write(TWO_A_SECOND)
    lab.config.write_text(lab.config.read_text().replace("metrics = ''\n", ""))
    command = lab.command("gate", "--config", str(lab.config))
    with (lab.folder / "gate.log").open("a") as log:
        gate = subprocess.Popen(command, stderr=log, text=True)
    lab.started.append(gate)
    lab.until(lambda: lab.status().get("attached"), "in place", gate)
    assert "no metrics" in lab.log()


def test_close_probe_with_the_ends_of_the_sender_is_warned_about(lab):
    lab.gate("law = { law = 'close-probe' }\nends_of = 'sender'\n")
    assert "it refuses next to nobody: use `tide`" in lab.log()


@pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 2),
    reason="this kernel lets programs read queues",
)
def test_where_queues_cannot_be_read_the_dual_queue_does_not_start(lab):
    before = lab.queues()
    done = lab.attempt(
        "law = { law = 'none' }\nshape = '1Mbit'\ndqm = { buffer = 40 }\n",
    )
    assert done.returncode == 1
    assert "this kernel does not let programs read the length of a queue" in done.stderr
    assert "use Linux 6.2 or newer" in done.stderr
    assert lab.queues() == before
    assert lab.programs() == lab.programs("ingress") == []


@pytest.mark.dual_queue
def test_what_the_dual_queue_refuses_is_counted_and_no_flood(lab):
    lab.gate(
        "mode = 'enforce'\nlaw = { law = 'none' }\nshape = '1Mbit'\nshape_buffer = '60kB'\n"
        "flood = { factor = 4, epochs = 2 }\n"
        "dqm = { x_m = 3, x_M = 3, P_M = 1, measure = 'instantaneous', buffer = 40 }\n"
    )
    lab.fill(9)
    end = time.monotonic() + 6
    while time.monotonic() < end:
        lab.connect(40)
        assert not lab.status()["alarm"]
    lab.until(lambda: lab.status()["connections"][1] >= 40, "counted")
    text = lab.within(lab.near, lab.program, "status", "--socket", str(lab.socket))
    assert ", 0 refused" not in text


# kill -9, at a socket that the file puts elsewhere: `clean` knows the usual folder, and what is
# named.
def test_clean_removes_the_socket_of_a_killed_gate(lab):
    gate = lab.gate(TWO_A_SECOND)
    gate.kill()
    gate.wait()
    assert lab.socket.exists()
    asked = subprocess.run(
        lab.command("gate", "confirm", "--socket", str(lab.socket)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "one that was killed has left this socket" in asked.stderr
    said = lab.within(lab.near, lab.program, "clean", "--socket", str(lab.socket))
    assert f"removed {lab.socket}\n" in said
    assert not lab.socket.exists()


# Twice the interface goes and comes back under a shaper, and twice a reload loads other programs:
# each time the kernel counts from zero. What is shown as a total never falls, and grows by what
# came.
def test_totals_go_on_whatever_is_loaded_anew(lab):
    shaped = TWO_A_SECOND.replace("enforce", "observe") + "shape = '9.5Mbit'\n"
    gate = lab.gate(shaped)
    totals = [0]

    def grows():
        lab.connect(MANY)
        wanted = totals[-1] + MANY
        lab.until(lambda: lab.status()["arrived_total"] >= wanted, "counted", gate)
        status = lab.status()
        totals.append(status["arrived_total"])
        assert totals[-1] <= wanted + MANY, "SYNs that came twice"
        assert status["sent_bytes"] < 1e9
        assert status["drops_total"] < 1e6

    grows()
    for _ in range(2):
        lab.within(lab.near, "ip", "link", "delete", "wan")
        lab.until(lambda: not lab.status()["attached"], "gone", gate)
        assert lab.status()["arrived_total"] == totals[-1]
        lab.cable()
        lab.until(lambda: lab.status()["attached"], "back", gate)
        grows()
    for ends in ("every", "cells"):
        lab.write(shaped + f"ends = '{ends}'\n")
        gate.send_signal(signal.SIGHUP)
        time.sleep(1.5)
        grows()
