"""The emulated link and real sessions through it, in namespaces that are put back."""

import contextlib
import csv
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tools.live.lateness import Late, TooBusy
from tools.live.measure import of_flows, read

from tidegate.hosts.lab import (
    LEFT,
    PORT,
    RIGHT,
    Lab,
    LabError,
    RanOut,
    lateness,
    obstacle,
    program,
    run,
)

pytestmark = pytest.mark.live

LINK = """
name = "test"
duration = "{seconds}s"
[topology.dumbbell]
pairs = 1
access = {{ rate = "1Gbit", delay = "1ms" }}
bottleneck = {{ rate = "10Mbit", delay = "18ms", buffer = "100packets" }}
{port}
[traffic.web]
opens = "{opens}"
arrivals = {arrivals}
size = "{size}"
transport = {{ tcp = {{ profile = "linux" }} }}
"""


@pytest.fixture(scope="module", autouse=True)
def _possible():
    if reason := obstacle(gate=False):
        pytest.skip(reason)


@pytest.fixture
def lab():
    with Lab() as lab:
        yield lab


def scenario(lab, *, seconds=3, opens="sender", arrivals, size, port=""):
    path = lab.folder / "scenario.toml"
    said = {"seconds": seconds, "opens": opens, "arrivals": arrivals}
    path.write_text(LINK.format(**said, size=size, port=port))
    return path


def rows(table):
    with table.open(newline="") as text:
        return list(csv.DictReader(text))


ONE = '{ at = ["100ms"] }'


# 1 MB at 10 Mbit/s, of which 1448 of 1500 bytes are payload, take 0.829 s, and a handshake of 40 ms
# and the way of the data come on top: no real link of that rate is faster.
@pytest.mark.parametrize("opens", ["sender", "receiver"])
def test_a_flow_takes_what_the_link_needs(lab, opens):
    file = scenario(lab, opens=opens, arrivals=ONE, size="1MB")
    link = lab.link(file)
    table = lab.folder / "flows.csv"
    lab.traffic(file, table, download=opens == "receiver")
    there, back = link.report()
    [flow] = rows(table)
    assert float(flow["fct_s"]) > 0.829 + 0.04 + 0.02
    assert int(flow["delivered_bytes"]) == 1_000_000
    assert int(flow["sent_packets"]) >= 691, "1 MB in segments of 1448 bytes"
    assert flow["syn_tries"] == "1"
    # 18 ms of the link and 1 ms on either side of it
    assert (there["asked_delay_ms"], back["asked_delay_ms"]) == (20, 20)
    assert there["delay_p50_ms"] >= 20
    assert there["written"] >= 691 + 3
    assert there["not_read"] == there["not_taken"] == back["not_taken"] == 0


# What the port is told to do happens to real packets: a gate of 5 sessions a second.
def test_a_gate_of_the_scenario_refuses_real_openers(lab):
    gate = '[port.bottleneck]\ngate = { law = "fixed-rate", rate = "5/s" }'
    file = scenario(lab, arrivals='{ every = "20ms" }', size="1kB", port=gate)
    link = lab.link(file)
    table = lab.folder / "flows.csv"
    lab.traffic(file, table, download=False)
    [there, _] = link.report()
    assert dict(there["drops"])["session_refused"] > 100
    admitted = [flow for flow in rows(table) if flow["admitted_s"]]
    assert 5 <= len(admitted) <= 20, "5 a second for 3 s and the first of the next"
    waited = [flow for flow in rows(table) if not flow["admitted_s"]]
    assert any(int(flow["syn_tries"]) > 1 for flow in waited), "they ask again"


# TCP of Linux refuses what its checksum does not fit, and counts it; it drops what came twice.
def test_real_receivers_refuse_damaged_packets_and_copies(lab):
    keys = "[port.bottleneck]\ncorrupt = 0.05\nduplicate = 0.2"
    file = scenario(lab, arrivals=ONE, size="300kB", port=keys, seconds=8)
    link = lab.link(file)
    table = lab.folder / "flows.csv"
    lab.traffic(file, table, download=False)
    counted = lab.within(lab.right, "cat", "/proc/net/snmp").splitlines()
    names, values = [line.split() for line in counted if line.startswith("Tcp:")]
    refused = int(values[names.index("InCsumErrors")])
    [there, _] = link.report()
    [flow] = rows(table)
    assert int(flow["delivered_bytes"]) == 300_000
    # 208 segments and what is sent again: 10.4 damaged on average, and 41.6 doubled
    assert 1 <= there["damaged"] <= 30
    assert 15 <= there["copied"] <= 80
    # a damaged packet may be doubled
    assert there["damaged"] <= refused <= 2 * there["damaged"]
    # a packet or two may be under way when the link ends
    assert there["read"] + there["copied"] - 2 <= there["written"]
    assert there["written"] <= there["read"] + there["copied"]


def test_a_lossy_link_loses_its_share(lab):
    lossy = '[port.bottleneck]\nqueue = { law = "drop-tail" }'
    file = scenario(lab, arrivals=ONE, size="300kB", port=lossy, seconds=8)
    link = lab.link(file, "topology.dumbbell.bottleneck.loss={ data = 0.05 }")
    table = lab.folder / "flows.csv"
    lab.traffic(file, table, download=False)
    [there, _] = link.report()
    lost = dict(there["drops"])["link_loss"]
    [flow] = rows(table)
    # 208 segments and what is sent again: 10.4 lost on average, standard deviation 3.2
    assert 1 <= lost <= 24
    assert int(flow["retransmitted_packets"]) >= lost // 2
    assert int(flow["delivered_bytes"]) == 300_000


def test_sessions_are_those_that_the_simulator_draws(lab):
    import tidegate

    file = scenario(lab, arrivals='{ poisson = "20/s" }', size="5kB", seconds=2)
    lab.link(file)
    table = lab.folder / "flows.csv"
    lab.traffic(file, table, download=False, seed=7)
    drawn = tidegate.run(file, seed=7).flows
    made = rows(table)
    assert [float(flow["size_bytes"]) for flow in made] == list(drawn["size_bytes"])
    # they start when they are due, and never before
    late = [float(flow["start_s"]) - due for flow, due in zip(made, drawn["start_s"], strict=True)]
    assert min(late) >= 0
    assert list(made[0]) == drawn.columns, "the columns of the simulator's table"
    assert of_flows(read(table), 2).completed_per_s > 0


# What is wrong is said with the place and the way out.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "nowhere"), "the scenario has no port `nowhere`"),
        (("--left", "no-such-namespace:tg0"), "No such file"),
        (("--set", "duration"), "write KEY=VALUE"),
    ],
)
def test_what_is_wrong_is_said(lab, options, said):
    file = scenario(lab, arrivals=ONE, size="1kB")
    places = ("--left", f"{lab.router}:tg0", "--right", f"{lab.right}:tg0")
    command = [lab.tidegated, "emulate", str(file), *places, *options]
    if "--left" in options:
        command = [lab.tidegated, "emulate", str(file), *options, *places[2:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_a_client_without_a_server_says_so(lab):
    file = scenario(lab, arrivals=ONE, size="1kB", seconds=1, opens="receiver")
    lab.link(file)
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run(
            [
                *("nsenter", f"--net=/run/netns/{lab.router}", lab.tidegated, "traffic", "run"),
                *(str(file), "--to", f"{RIGHT}:9", "--out", str(lab.folder / "out.csv")),
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )


# A connection begins with the control of its listener, and one that paced stays paced
# (bbr_init; tcp_update_pacing_rate), whatever control its class has.
def test_downloads_are_not_paced_by_the_default_of_the_machine(lab):
    controls = "/proc/sys/net/ipv4/tcp_available_congestion_control"
    if "bbr" not in lab.within(lab.left, "cat", controls).split():
        pytest.skip("this kernel has no control that paces")
    lab.within(lab.left, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=bbr")
    lab.serve(lab.left, f"{LEFT}:{PORT}")
    assert " reno " in lab.within(lab.left, "ss", "-Hltin")


# By hand: six ports are enough for six sessions at a time, and fifty are asked for.
def test_sessions_without_a_port_are_no_load(lab):
    lab.within(lab.left, "sysctl", "-qw", "net.ipv4.ip_local_port_range=20000 20005")
    file = scenario(lab, arrivals='{ uniform = 50, within = "1s" }', size="100kB")
    lab.link(file)
    with pytest.raises(LabError, match="no room for a session"):
        lab.traffic(file, lab.folder / "flows.csv", download=False)


NEVER_ACCEPTS = """
import socket, sys, time
listener = socket.create_server((sys.argv[1], 4433), backlog=1)
print("listening", flush=True)
time.sleep(60)
"""
IN_VAIN = """
import socket, sys
waiting = [socket.socket() for _ in range(20)]
for one in waiting:
    one.setblocking(False)
    one.connect_ex((sys.argv[1], 4433))
import time; time.sleep(1)
"""


# A server that accepts too slowly drops SYNs (TcpExtListenOverflows): no router did.
@pytest.mark.parametrize("meant", [False, True])
def test_a_full_backlog_makes_a_run_invalid_unless_it_is_meant(meant):
    def run_it():
        with Lab(may_run_out=frozenset({"backlog"} if meant else ())) as lab:
            server = lab.start(lab.left, sys.executable, "-c", NEVER_ACCEPTS, LEFT)
            assert server.stdout.readline() == "listening\n"
            lab.within(lab.router, sys.executable, "-c", IN_VAIN, LEFT)

    if meant:
        run_it()
        return
    with pytest.raises(RanOut, match="no room for backlog at the left host"):
        run_it()


# A server that ends in the middle of a run serves nobody, and nobody reads what it says.
def test_a_process_that_ends_by_itself_makes_a_run_invalid():
    code = "import sys; sys.exit('too many open files')"
    with pytest.raises(RanOut, match="too many open files"), Lab() as lab:
        lab.start(lab.left, sys.executable, "-c", code).wait()


def test_everything_is_put_back_also_after_a_failure():
    with pytest.raises(LabError), Lab() as lab:
        assert {lab.left, lab.router, lab.right} <= namespaces()
        lab.link(scenario(lab, arrivals=ONE, size="1kB"))
        raise LabError("something went wrong")
    assert not {lab.left, lab.router, lab.right} & namespaces()
    assert not lab.folder.exists()
    assert all(process.poll() is not None for process in lab.started)


def test_the_report_is_json_and_text(lab):
    file = scenario(lab, arrivals=ONE, size="1kB", seconds=1)
    places = ("--left", f"{lab.router}:tg0", "--right", f"{lab.right}:tg0")
    command = [lab.tidegated, "emulate", str(file), *places, "--time", "200ms"]
    text = run(*command)
    assert "10.000 Mbit/s requested, never busy for a second" in text
    [there, back] = json.loads(run(*command, "--json"))
    assert (there["port"], back["port"]) == ("bottleneck", "bottleneck.reverse")
    assert there["reached_bps"] is None


def behind(folder, *command, settings=(), json=False):
    """Run a command behind a link of 10 Mbit/s and 40 ms; also return its namespace's name."""
    file = folder / "link.toml"
    file.write_text(LINK.format(seconds=30, opens="receiver", arrivals=ONE, size="1kB", port=""))
    options = [word for setting in settings for word in ("--set", setting)]
    options += ["--json"] * json
    arguments = [program(), "emulate", file, *options, "--", *command]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(arguments, **piped) as process:
        try:
            stdout, stderr = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    done = subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)
    return done, f"tidegate-{process.pid}"


def namespaces():
    """Name the namespaces of this machine, those of other tests too."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    return {line.split()[0] for line in listed.stdout.splitlines()}


CONNECT = """
import os, socket, sys, time
print(*os.listdir("/run/netns"))
for _ in range(3):
    begun = time.monotonic()
    socket.create_connection((os.environ["TIDEGATE_OUTSIDE"], int(sys.argv[1]))).close()
    print(time.monotonic() - begun)
sys.exit(7)
"""


# A handshake takes a round trip: 40 ms by hand, 1 + 18 + 1 ms each way.
def test_a_command_runs_behind_the_link_and_ends_it(tmp_path, watch):
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = str(server.getsockname()[1])
        done, namespace = behind(tmp_path, sys.executable, "-c", CONNECT, port, json=True)
    assert done.returncode == 7, done.stderr
    seen, *lines = done.stdout.splitlines()
    assert namespace in seen.split()
    took = [float(line) for line in lines]
    assert len(took) == 3
    is_round_trip(min(took), 0.040, done.stderr, watch)
    assert namespace not in namespaces()


def is_round_trip(took, due, report, watch):
    """Hold a round trip to what is due, which a link and ends that are late only add to."""
    assert took >= due
    if took >= due + 0.005:
        late_ms, _ = lateness(json.loads(report))
        seen = f"{1e3 * took:.1f} ms in place of {1e3 * due:.0f}"
        Late(late_ms, watch.mean_ms).excuse(1, 0.005, seen)
    assert took < due + 0.005


ASK = """
import os, socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.settimeout(2)
for _ in range(40):
    begun = time.monotonic()
    sock.sendto(b"?", (os.environ["TIDEGATE_OUTSIDE"], int(sys.argv[1])))
    sock.recv(100)
    print(time.monotonic() - begun)
    time.sleep(0.05)
"""


# By hand: 1 + 18 + 1 ms there and 1 + 18 + 1 ms back, and 30 ms more in every other second.
def test_a_delay_follows_its_trace(tmp_path, watch):
    (tmp_path / "steps.csv").write_text("time_s,delay_s\n0,0.018\n1,0.048\n2,0\n")

    def echo(sock):
        while (got := sock.recvfrom(100))[0] == b"?":
            sock.sendto(b"!", got[1])

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("0.0.0.0", 0))
        thread = threading.Thread(target=echo, args=[sock])
        thread.start()
        port = sock.getsockname()[1]
        traced = ['port.bottleneck.delay={ trace = "steps.csv" }']
        command = [sys.executable, "-c", ASK, str(port)]
        done, _ = behind(tmp_path, *command, settings=traced, json=True)
        sock.sendto(b"", ("127.0.0.1", port))
        thread.join()
    assert done.returncode == 0, done.stderr
    took = sorted(float(line) for line in done.stdout.splitlines())
    is_round_trip(took[0], 0.040, done.stderr, watch)
    late = [each for each in took if each >= 0.070]
    assert len(late) >= 10
    is_round_trip(late[0], 0.070, done.stderr, watch)


FLOOD = """
import os, socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + 3
while time.monotonic() < end:
    for _ in range(25):
        sock.sendto(bytes(1000), (os.environ["TIDEGATE_OUTSIDE"], int(sys.argv[1])))
    time.sleep(0.01)
"""


# Both ends send twice what the link carries. By hand: 1028 B at 10 Mbit/s are 1216 packets a
# second, or 3648 in 3 s, and no more in both directions while the link is up; each alone would fill
# that. They take turns, so that each direction has half of what both have while both send.
def test_two_directions_share_a_medium(tmp_path):
    def answer(sock):
        _, peer = sock.recvfrom(2000)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            for _ in range(25):
                sock.sendto(bytes(1000), peer)
            time.sleep(0.01)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("0.0.0.0", 0))
        thread = threading.Thread(target=answer, args=[sock])
        thread.start()
        air = '{ name = "air" }'
        shared = [f"port.bottleneck.medium={air}", f'port."bottleneck.reverse".medium={air}']
        # on a busy machine a sender may pause for long
        shared.append("topology.dumbbell.bottleneck.buffer=1000packets")
        command = [sys.executable, "-c", FLOOD, str(sock.getsockname()[1])]
        done, _ = behind(tmp_path, *command, settings=shared, json=True)
        thread.join()
    assert done.returncode == 0, done.stderr
    ways = json.loads(done.stderr)
    least, most = sorted(each["read"] for each in ways)
    if least < 1.5 * 3648 or least < 0.9 * most:
        raise TooBusy(f"the ends sent {least} and {most} packets in place of twice 3648")
    there, back = (each["written"] for each in ways)
    seconds = max(each["seconds"] for each in ways)
    if seconds > 4.5:
        raise TooBusy(f"the link was up for {seconds:.1f} s in place of 3")
    assert 0.8 * 3648 < there + back < 1.01 * 1216 * seconds
    assert there == pytest.approx(back, rel=0.1)


def test_a_command_that_is_not_there_leaves_nothing(tmp_path):
    done, namespace = behind(tmp_path, "no-such-command")
    # as a shell says it (POSIX, 2.8.2)
    assert done.returncode == 127
    assert "no-such-command" in done.stderr
    assert namespace not in namespaces()


def test_a_signal_ends_the_command_too(tmp_path):
    done, namespace = behind(tmp_path, "sh", "-c", "kill -TERM $PPID; exec sleep 20")
    assert done.returncode != 0
    assert namespace not in namespaces()


FOLLOWERS = "sleep 300 & echo $!; exec sleep 300"


def is_there(process):
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@contextlib.contextmanager
def begun_behind(folder, *command):
    """Run a command behind a link; give the link's process, and what the command says first."""
    file = folder / "link.toml"
    file.write_text(LINK.format(seconds=30, opens="receiver", arrivals=ONE, size="1kB", port=""))
    arguments = [program(), "emulate", file, "--", *command]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


# What the command has started has no link any more.
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_what_the_command_has_started(tmp_path, number):
    with begun_behind(tmp_path, "sh", "-c", FOLLOWERS) as (process, follower):
        assert is_there(follower)
        process.send_signal(number)
        assert process.wait(timeout=120) != 0
    assert not is_there(follower)
    assert f"tidegate-{process.pid}" not in namespaces()


# Killed, it can remove nothing: the next one does.
def test_what_a_killed_link_has_left_is_removed_by_the_next(tmp_path):
    with begun_behind(tmp_path, "sh", "-c", "echo $$; exec sleep 300") as (process, inside):
        process.kill()
        process.wait(timeout=120)
    left = f"tidegate-{process.pid}"
    assert left in namespaces()
    busy, _ = behind(tmp_path, "true")
    assert busy.returncode == 0
    assert left in namespaces(), "a process is in it still"
    os.kill(int(inside), signal.SIGKILL)
    while is_there(inside):
        time.sleep(0.1)
    done, _ = behind(tmp_path, "true")
    assert done.returncode == 0
    assert f"removed {left}, which a killed emulator left" in done.stderr
    assert left not in namespaces()


@pytest.mark.parametrize("opens", ["sender", "receiver"])
def test_sessions_with_a_wrong_server_are_a_failure(tmp_path, opens):
    file = tmp_path / "link.toml"
    file.write_text(LINK.format(seconds=2, opens=opens, arrivals=ONE, size="1kB", port=""))
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = free.getsockname()[1]
    command = [program(), "traffic", "run", file, "--to", f"127.0.0.1:{nobody}"]
    table = tmp_path / "flows.csv"
    table.write_text("of an earlier run", encoding="utf-8")
    done = subprocess.run(
        [*command, "--out", table],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "every session failed, the first one so: Connection refused" in done.stderr
    assert "is `tidegated traffic serve` running there" in done.stderr
    assert table.read_text(encoding="utf-8") == "of an earlier run"
