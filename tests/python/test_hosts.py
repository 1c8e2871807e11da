"""Real hosts of this machine: what it may run out of while it makes load, seen without root."""

import errno
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tidegate.hosts import lab, room

SNMP = """\
Ip: Forwarding DefaultTTL
Ip: 1 64
Udp: InDatagrams RcvbufErrors
Udp: 7 3
UdpLite: InDatagrams RcvbufErrors
UdpLite: 0 0
"""
ARP = """\
entries  allocs   table_fulls
00000003 0000000a 00000000
00000003 0000000b 00000010
"""
# the first number is what was taken, the second what the queue had no room for
SOFTNET = "0000000d 00000002 00000000\n0000d490 0000000a 00000000\n"
DEVICES = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo
    lo:     100       1    0    0    0     0          0         0     100      1    0    0    0
   wan:    2000       9    0    4    0     0          0         0    9000     30    0    5    0
"""


def test_tables_of_the_kernel_are_read_as_they_are_written() -> None:
    """By hand: UDP's count is not that of UDP-Lite, and processors are added up (hexadecimal)."""
    assert room.of_tables(SNMP)["Udp.RcvbufErrors"] == 3
    assert room.of_processors("arp_cache", ARP)["arp_cache.table_fulls"] == 16
    assert room.of_softnet(SOFTNET) == {"softnet.dropped": 12}
    assert room.of_devices(DEVICES) == {"lo.dropped": 0, "wan.dropped": 9}


def test_what_grew_is_named_with_its_resource() -> None:
    """A count that stands still is none; one that a kernel does not have is 0 before and after."""
    before = {"TcpExt.ListenOverflows": 5, "nf_conntrack.drop": 2, "Tcp.RetransSegs": 1}
    after = {"TcpExt.ListenOverflows": 9, "nf_conntrack.drop": 2, "Tcp.RetransSegs": 8}
    assert room.grown(before, after) == {"backlog": ["TcpExt.ListenOverflows +4"]}
    assert room.grown({}, {}) == {}


def test_this_kernel_has_the_tables() -> None:
    """What is watched is there under these names (linux/snmp.h), or the kernel lacks the part."""

    def read(file: str) -> str:
        try:
            return Path(file).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    counts = room.counts(read)
    for what in ("memory", "buffers", "backlog", "input"):
        assert [name for name in room.COUNTED[what] if name not in counts] == []
    assert "lo.dropped" in counts


@contextmanager
def limits(soft: int, hard: int) -> Iterator[list[tuple[int, int]]]:
    """Pretend that these are the limits on open files; tell what they are set to."""
    told: list[tuple[int, int]] = []

    def refuse(_: int, asked: tuple[int, int]) -> None:
        if asked[1] > hard:
            raise ValueError("not allowed to raise maximum limit")
        told.append(asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: (soft, hard))
        patch.setattr(resource, "setrlimit", refuse)
        yield told


def test_the_limit_on_open_files_is_raised_or_the_lab_fails() -> None:
    """Many logins have 1024 open files, and a user who loads a page needs six."""
    with limits(1024, 1 << 20) as told:
        room.raise_limit()
        assert told == [(room.OPEN, 1 << 20)]
    with limits(room.OPEN, room.OPEN) as told:
        room.raise_limit()
        assert told == []
    # where the hard limit stands it is what there is
    with limits(1024, 20_000) as told:
        room.raise_limit()
        assert told == [(20_000, 20_000)]
    with limits(1024, 4096), pytest.raises(lab.LabError, match="may open 4096 files here"):
        lab.Lab(tidegated="").__enter__()


HOLDER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
held = [open("/dev/null") for _ in range(int(sys.argv[1]))]
print("open", flush=True)
sys.stdin.read()
"""


# three more are its input, its output and its errors
@pytest.mark.parametrize(("held", "full"), [(40, False), (95, True)])
def test_a_process_near_its_limit_on_open_files_is_seen(held: int, full: bool) -> None:
    command = [sys.executable, "-c", HOLDER, str(held)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        watch = room.Watch([process])
        watch.look()
        watch.end()
        process.communicate()
    found = watch.most()
    assert found.limit == 100
    assert held + 3 <= found.peak <= held + 4
    assert found.full() == full


def test_a_process_has_a_short_name() -> None:
    """Neither what starts it, nor its options, nor a plan in JSON."""
    python = ["chrt", "--rr", "20", "nsenter", "--net=/run/netns/x", "/usr/bin/python3", "-m"]
    assert room.short([*python, "tools.live.page_users", '{"seconds": 4}']) == (
        "python3 tools.live.page_users"
    )


def test_a_run_that_the_machine_had_no_room_for_is_run_again_and_then_refused() -> None:
    def run_of(answers: list[Exception | str]) -> Callable[[], str]:
        def run() -> str:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return run

    told: list[str] = []
    assert lab.valid(run_of([lab.RanOut("files"), "good"]), told.append) == "good"
    assert told == ["not valid, run again: files"]
    with pytest.raises(lab.RanOut, match="third"):
        lab.valid(run_of([lab.RanOut("one"), lab.RanOut("two"), lab.RanOut("third")]), told.append)
    # what does not work does not work the next time either
    with pytest.raises(lab.LabError, match="no route"):
        lab.valid(run_of([lab.LabError("no route"), "good"]), told.append)


def test_errors_of_this_machine_are_told_from_those_of_the_way() -> None:
    """connect(2), accept(2), socket(2), bind(2): of this machine; the others not."""
    assert {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM} < room.NO_ROOM
    assert {errno.EADDRNOTAVAIL, errno.EADDRINUSE} < room.NO_ROOM
    on_the_way = {errno.ECONNREFUSED, errno.ECONNRESET, errno.ETIMEDOUT, errno.EHOSTUNREACH}
    assert not on_the_way & room.NO_ROOM
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(OSError, match="in use") as refused:
            socket.create_server(taken.getsockname())
        assert refused.value.errno in room.NO_ROOM


# By hand: a packet of 12,000 bits takes 2.4 ms at 5 Mbit/s; so late is not late there.
@pytest.mark.parametrize(
    ("late", "lost", "packet", "said"),
    [(1.0, 0, 0.6, None), (2.0, 0, 0.6, "2.00 ms late"), (2.0, 0, 2.4, None), (1.0, 3, 2.4, "3 p")],
)
def test_a_link_that_is_late_makes_a_run_invalid(
    late: float, lost: int, packet: float, said: str | None
) -> None:
    watched = lab.Lab(tidegated="", late_ms=1.2)
    watched.watch, watched.before = room.Watch([]), {}
    watched.late.append((late, lost, packet))
    watched.watch.end()
    met = watched.ran_out()
    assert met == [] if said is None else said in met[0]
    watched.late_ms = None
    assert watched.ran_out() == []


def test_hosts_that_are_late_make_a_run_invalid() -> None:
    watched = lab.Lab(tidegated="", late_ms=1.2, hosts_late_ms=[3.0, 80.0])
    watched.watch, watched.before = room.Watch([]), {}
    watched.watch.end()
    assert watched.ran_out() == ["hosts were 80 ms late (p95), and 50 ms are allowed"]


# A program of the lab says what is missing, or what went wrong, in a line and not in a traceback.
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (lab.NoLab("there is no /dev/net/tun"), 2, "no lab here: there is no /dev/net/tun\n"),
        (lab.LabError("ip: no such link"), 1, "ip: no such link\n"),
    ],
)
def test_a_program_of_the_lab_ends_with_a_line(error, code, said, capsys, monkeypatch):
    monkeypatch.setattr(lab.signal, "signal", lambda *_: None)

    def main():
        raise error

    assert lab.interrupted(main) == code
    assert capsys.readouterr().err == said


def test_what_a_program_of_the_lab_needs_is_named(monkeypatch):
    monkeypatch.setattr(lab, "obstacle", lambda *, gate: None)
    lab.need(gate=True)
    with pytest.raises(lab.NoLab, match="not installed: tidegate-nowhere"):
        lab.need(gate=True, also=["sh", "tidegate-nowhere"])
    monkeypatch.setattr(lab.shutil, "which", lambda _: None)
    lacking = r"not installed: nft, curl \(sudo apt-get install -y nftables curl\)"
    with pytest.raises(lab.NoLab, match=lacking):
        lab.need(gate=True, also=["nft", "curl"])
