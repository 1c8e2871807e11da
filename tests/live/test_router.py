"""A router of three namespaces: inside, router, outside; a gate for both of its directions."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from two_a_second import FEW, LAW, MANY, admitted
from two_hosts import PORT, ROOT, SERVER, Lab, run

pytestmark = pytest.mark.live

INSIDE, OUTSIDE = "10.78.1.2", "10.78.2.2"

SEND = """
import socket, sys, time
to, bps, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
began, sent = time.monotonic(), 0
while (past := time.monotonic() - began) < seconds:
    while 8 * 1228 * sent < bps * past:
        one.sendto(bytes(1200), (to, 9)); sent += 1
    time.sleep(0.002)
"""


class Router(Lab):
    """`near` is the router here, `far` is outside, and the users are inside."""

    def __enter__(self) -> "Router":
        self.inside = self.near.replace("near", "inside")
        for name in (self.inside, self.near, self.far):
            run("ip", "netns", "add", name)
            self.within(name, "ip", "link", "set", "lo", "up")
        self.join("lan0", self.inside, "10.78.1")
        self.join("wan0", self.far, "10.78.2")
        for name, gateway in ((self.inside, "10.78.1.1"), (self.far, "10.78.2.1")):
            self.within(name, "ip", "route", "add", "default", "via", gateway)
        forward = Path(f"/run/netns/{self.near}")
        run("nsenter", f"--net={forward}", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for name, address in ((self.far, OUTSIDE), (self.inside, INSIDE)):
            server = self.start(name, sys.executable, "-c", SERVER, address, str(PORT))
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
        return self

    def __exit__(self, *why: object) -> None:
        super().__exit__(*why)
        run("ip", "netns", "delete", self.inside, check=False)

    def join(self, name: str, host: str, network: str) -> None:
        """Lay a cable from an interface of the router to a host."""
        ends = f"{name} netns {self.near} type veth peer eth0 netns {host}"
        run("ip", "link", "add", *ends.split())
        for where, device, last in ((self.near, name, 1), (host, "eth0", 2)):
            self.within(where, "ip", "address", "add", f"{network}.{last}/24", "dev", device)
            self.within(where, "ip", "link", "set", device, "up")
        self.until(
            lambda: " UP " in self.within(self.near, "ip", "-br", "link", "show", name), "up"
        )

    def offer(self, name: str, to: str, bps: float, seconds: float) -> "subprocess.Popen[str]":
        return self.start(name, sys.executable, "-c", SEND, to, str(bps), str(seconds))

    def observe(self, *words: str) -> str:
        out = ("--out", str(self.folder / "seen.toml"), "--socket", str(self.socket))
        done = self.start(self.near, self.program, "gate", "observe", *words, *out)
        text, _ = done.communicate(timeout=120)
        assert done.returncode == 0
        return text

    def write(self, text: str) -> None:
        self.config.write_text(f"socket = '{self.socket}'\nmetrics = ''\n{text}")

    def both(self, text: str) -> "subprocess.Popen[str]":
        """Start a gate with that file, which names both directions."""
        process = self.begin(text)

        def placed():
            return [each["epochs"] > 0 for each in self.states()] == [True, True]

        self.until(placed, "in place", process)
        return process

    def states(self) -> list[dict[str, object]]:
        text = run(self.program, "status", "--json", "--socket", str(self.socket), check=False)
        return [json.loads(line) for line in text.splitlines()]

    def down(self, count: int) -> int:
        """Open so many connections from outside; their data would leave by the outer interface."""
        return self._attempt(self.far, INSIDE, PORT, count)

    def up(self, count: int) -> int:
        """Open so many from inside."""
        return self._attempt(self.inside, OUTSIDE, PORT, count)


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Router]:
    with Router(tmp_path) as router:
        yield router


# 14 Mbit/s are offered to a downlink of 10 Mbit/s at the inner interface, and little leaves. With
# the rate of the link given, what was suggested once was to shape the outer interface.
@pytest.mark.parametrize("rate", [(), ("--rate", "10Mbit")])
def test_a_full_downlink_is_named_from_the_outer_interface(router, rate):
    router.tc("qdisc add dev lan0 root tbf rate 10mbit burst 10kb limit 50kb")
    sender = router.offer(router.far, INSIDE, 14e6, 10)
    text = router.observe("wan0", "--for", "6s", *rate)
    sender.kill()
    [congested] = re.findall(r"congested lan0: full (\d+) % of the time; at most (\S+)Mbit/s", text)
    assert int(congested[0]) >= 50
    assert 9 <= float(congested[1]) <= 11, "the rate of the shaper"
    [incoming] = re.findall(r"comes in  at most (\S+)Mbit/s", text)
    assert 12 <= float(incoming) <= 17, "what was offered"
    written = (router.folder / "seen.toml").read_text()
    assert 'interface = "lan0"' in written
    assert "shape" not in written
    assert 'interface = "wan0"' not in written


# The provider's end of the link is the bottleneck: no queue of this machine is full.
def test_a_downlink_that_is_full_at_the_provider_is_not_shaped_at_the_outer_interface(router):
    cut = "qdisc add dev eth0 root tbf rate 10mbit burst 10kb limit 50kb"
    router.within(router.far, "tc", *cut.split())
    sender = router.offer(router.far, INSIDE, 14e6, 10)
    text = router.observe("wan0", "--for", "6s", "--rate", "10Mbit")
    sender.kill()
    assert "A gate here does not hold that back" in text
    assert "tidegated gate observe --down lan0 --up wan0" in text
    assert "shape" not in (router.folder / "seen.toml").read_text()


BOTH = f"{LAW}[down]\ninterface = 'lan0'\n[up]\ninterface = 'wan0'\n"


def test_one_file_controls_both_directions(router):
    gate = router.both(f"mode = 'enforce'\n{BOTH}")
    assert router.programs(device="lan0") == router.programs(device="wan0") == ["tidegate_gate"]
    assert admitted(router, router.up) <= FEW, (
        "by the inner interface they come in, by the outer they leave"
    )
    assert admitted(router, router.down) <= FEW
    named = [(each["interface"], each["direction"]) for each in router.states()]
    assert named == [("lan0", "down"), ("wan0", "up")]
    router.config.write_text(router.config.read_text().replace("enforce", "observe"))
    gate.send_signal(1)

    def modes():
        return [each["mode"] for each in router.states()]

    router.until(lambda: modes() == ["observe", "observe"], "reloaded")
    assert router.up(MANY) == MANY
    gate.terminate()
    assert gate.wait(timeout=120) == 0
    assert router.programs(device="lan0") == router.programs(device="wan0") == []


# [up] cannot have a page now: [down] must not change alone.
def test_both_directions_take_over_a_file_or_neither(router):
    text = BOTH.replace("interface = 'lan0'", "interface = 'lan0'\nshape = '20Mbit'")
    gate = router.both(f"mode = 'enforce'\n{text}")
    before = router.queues("lan0")
    router.write(text.replace("20Mbit", "30Mbit") + "page = '127.0.0.1:9499'\n")
    gate.send_signal(signal.SIGHUP)

    def told():
        return ["[up] page: a running gate" in each["trouble"] for each in router.states()]

    router.until(lambda: told() == [True, True], "refusing the file")
    assert [each["mode"] for each in router.states()] == ["enforce", "enforce"]
    assert router.queues("lan0") == before


# A queue of somebody else at [up] keeps the shaper from there: [down] has the new file.
def test_a_direction_in_which_the_kernel_refuses_a_file_says_that_it_is_alone(router):
    gate = router.both(f"mode = 'observe'\n{BOTH}")
    router.tc("qdisc add dev wan0 root handle 5: bfifo")
    text = BOTH.replace("interface", "shape = '20Mbit'\ninterface")
    router.write(f"mode = 'enforce'\n{text}")
    gate.send_signal(signal.SIGHUP)

    def modes():
        return [each["mode"] for each in router.states()]

    router.until(lambda: modes() == ["enforce", "observe"], "in force where it can be")
    down, up = (each["trouble"] for each in router.states())
    assert down == ""
    assert up.startswith("reload: the earlier settings stay at wan0 (up alone): ")
    assert "20Mbit" in router.queues("lan0")
    assert "wan0 (up alone): the file is not applied here" in router.log()


# Each direction has a law of its own: what is refused in one does not close the other.
def test_each_direction_has_its_own_keys(router):
    text = BOTH.replace("interface = 'lan0'", "interface = 'lan0'\nlaw = { law = 'none' }")
    router.both(f"mode = 'enforce'\n{text}")
    assert admitted(router, router.up) <= FEW
    down, up = router.states()
    assert (down["law"], up["law"]) == ("none", "fixed-rate")


def test_an_ifb_is_told_that_nothing_comes_back(router):
    made = subprocess.run(
        [
            "nsenter",
            f"--net=/run/netns/{router.near}",
            *["ip", "link", "add", "ifb0", "type", "ifb"],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"this kernel makes no ifb: {made.stderr.strip()}: modprobe ifb")
    router.within(router.near, "ip", "link", "set", "ifb0", "up")
    router.tc("qdisc add dev wan0 clsact")
    all_packets = "filter add dev wan0 ingress protocol all u32 match u32 0 0"
    router.tc(f"{all_packets} action mirred egress redirect dev ifb0")
    wrong = router.attempt(f"[down]\ninterface = 'ifb0'\n{LAW}")
    assert wrong.returncode == 1
    assert 'set `ends_of = "sender"`' in wrong.stderr
    text = BOTH.replace("'lan0'", "'ifb0'\nends_of = 'sender'").replace("wan0'", "wan0'\n" + NONE)
    router.both(f"mode = 'enforce'\n{text}")
    assert admitted(router, router.up) <= FEW, "the SYN+ACK that comes in leaves by the ifb"


NONE = "law = { law = 'none' }\n"


# Each direction shows the users inside, by their address: who was refused, and what each used.
def test_who_was_refused_is_said(router):
    router.both(f"mode = 'enforce'\nwho = true\n{BOTH}")
    assert admitted(router, router.up) <= FEW

    def clients(state):
        return {each["address"]: each for each in state["clients"]}

    def shown():
        return [clients(each).get(INSIDE) for each in router.states()]

    router.until(lambda: all(shown()) and shown()[0]["refused"] > 0, "shown")
    down, up = shown()
    assert down["came"] >= MANY
    assert down["refused"] >= MANY - FEW
    assert up["bytes"] > 0, "what the inner interface lets in leaves by the outer one"
    assert router.states()[0]["clients"][0]["address"] == INSIDE, "who was refused most is first"
    text = run(router.program, "status", "--socket", str(router.socket))
    assert re.search(rf"^    {INSIDE} +\d+ came, \d+ refused", text, re.M)


def test_nobody_is_shown_unless_asked(router):
    router.both(f"mode = 'enforce'\n{BOTH}")
    assert admitted(router, router.up) <= FEW
    assert [each["clients"] for each in router.states()] == [[], []]


# The operator's way, as the page has it: each line of its first block, in a router.
def test_the_way_to_a_gate_as_the_page_shows_it(router, tmp_path):
    page = (ROOT / "docs/gate.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```\n(tidegated doctor .*?)^```", page, re.S | re.M)
    lines = [re.sub(r"\s+#.*", "", line) for line in block.splitlines()]
    lines = [re.sub(r"--(for|watch) \d+(min)?", lambda m: f"--{m[1]} 5{'s' * bool(m[2])}", line)
             for line in lines]  # fmt: skip
    assert any("observe --down lan0" in line for line in lines)
    # sockets have their usual place, of these processes alone
    room = ["unshare", "--mount", "--propagation", "private", "sh", "-euc"]
    runs = "tidegated gate --config gate.toml"
    script = [
        "mkdir -p /run/tidegate; mount -t tmpfs none /run/tidegate",
        f"mkdir bin; ln -s {router.program} bin/tidegated; export PATH=$PWD/bin:$PATH",
    ]
    for line in lines:
        script.append(f"echo '$ {line}'")
        if line == runs:
            script.append(f"{line} & gate=$!; sleep 4")
        elif line.endswith("--watch"):
            script.append(line.removesuffix(" --watch"))
        elif line == "tidegated clean":
            script.append(f"kill -9 $gate; sleep 1; {line}")
        else:
            script.append(line)
    done = router.start(
        router.near, "env", "-C", str(tmp_path), *room, "\n".join(script), merge=True
    )
    text, _ = done.communicate(timeout=300)
    assert done.returncode == 0, text
    said = dict(re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", text, re.M))
    [observed] = [said[line] for line in said if "observe" in line]
    assert "lan0 (down: to the users)" in observed
    assert "wan0 (up: from the users)" in observed
    assert "written: gate.toml" in observed
    tried = next(answer for line, answer in said.items() if "enforce" in line)
    assert "lan0: refusing for" in tried
    assert "wan0: refusing for" in tried
    [status] = [said[line] for line in said if "status" in line]
    assert "lan0 (down) enforce, attached" in status, "a confirmed trial has no end"
    assert "wan0 (up) enforce, attached" in status
    assert "removed" in said["tidegated clean"]
    assert "gate-lan0+wan0.sock" in said["tidegated clean"]
    assert router.programs(device="lan0") == router.programs(device="wan0") == []
