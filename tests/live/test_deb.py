"""The Debian package in a bare Debian: installed, run, purged (`make test-deb`)."""

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
UNIT = "lib/systemd/system/tidegate-gate@.service"
SYSTEMD = Path(__file__).with_name("systemd.sh")
FILES = "/usr /etc /lib /var/log /run"
# an interface of the bare Debian's own network, with a queue that tells its length
INTERFACE = (
    "ip link add wan0 type veth peer name lan0 && ip link set wan0 up && ip link set lan0 up"
    " && tc qdisc replace dev wan0 root pfifo limit 100"
)


class Bare:
    """A bare Debian in a folder, in a network namespace of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "debian"
        self.namespace = f"tg{os.getpid()}-bare"

    def run(self, command: str, *, check: bool = True) -> str:
        """Run a line of shell in it; return what it prints."""
        done = subprocess.run(self.words(command), capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def words(self, command: str) -> list[str]:
        inside = ["chroot", str(self.root), "/bin/sh", "-ec", command]
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *inside]

    def files(self) -> set[str]:
        """List the files of the package manager's reach, less its own caches and logs."""
        found = self.run(f"find {FILES} -not -name '*.log' -not -path '/var/log/apt*' -not -type d")
        return set(found.split())


@pytest.fixture(scope="module")
def package() -> Path:
    if "TIDEGATE_DEB" not in os.environ:
        pytest.skip("takes minutes and a Debian mirror: make test-deb runs it")
    if os.geteuid() != 0:
        pytest.skip("chroot and namespaces need root")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("mmdebstrap is not installed: apt-get install -y mmdebstrap")
    return Path(os.environ["TIDEGATE_DEB"])


@pytest.fixture(scope="module")
def bare(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    bare = Bare(tmp_path_factory.mktemp("bare"))
    subprocess.run(
        [
            *("mmdebstrap", "--variant=minbase", "--mode=root", "--quiet"),
            *("--include=iproute2,systemd,procps,bpftool", "bookworm", str(bare.root)),
        ],
        check=True,
    )
    subprocess.run(["ip", "netns", "add", bare.namespace], check=True)
    mounts = [("proc", "/proc"), ("sysfs", "/sys")]
    for kind, place in mounts:
        subprocess.run(["mount", "-t", kind, kind, f"{bare.root}{place}"], check=True)
    shutil.copy(package, bare.root)
    try:
        yield bare
    finally:
        for _, place in reversed(mounts):
            subprocess.run(["umount", f"{bare.root}{place}"], check=False)
        subprocess.run(["ip", "netns", "delete", bare.namespace], check=False)


def test_it_is_installed_run_and_purged(bare: Bare) -> None:
    bare.run(INTERFACE)
    # what dpkg itself keeps is under /var/lib
    before = bare.files()
    bare.run("apt-get install -y --no-install-recommends /tidegated_*.deb")
    libraries = bare.files() - before
    assert "/usr/bin/tidegated" in libraries

    assert "tidegated" in bare.run("tidegated --version")
    pages = bare.run("ls /usr/share/man/man1")
    assert "tidegated-gate-observe.1.gz" in pages
    said = bare.run(f"systemd-analyze verify /{UNIT.replace('@', '@wan0')}", check=False)
    # a bare Debian has no `man`, which would look the manual pages up
    assert [line for line in said.splitlines() if "'man " not in line] == []
    bare.run("tidegated gate --check --config /usr/share/doc/tidegated/examples/gate.toml")

    bare.run("tidegated gate observe wan0 --for 5s --out /etc/tidegate/wan0.toml")
    file = bare.root / "etc/tidegate/wan0.toml"
    assert "observe" in file.read_text()
    # at tcx nothing would be left of it
    file.write_text('hook = "clsact"\n' + file.read_text())
    gate = subprocess.Popen(bare.words("exec tidegated gate --config /etc/tidegate/wan0.toml"))
    try:
        end = time.monotonic() + 20
        while "wan0 observe, attached" not in (said := bare.run("tidegated status", check=False)):
            assert time.monotonic() < end, said
            time.sleep(0.2)
        bare.run("tidegated gate enforce --for 10min")
        assert "wan0 enforce" in bare.run("sleep 1.5; tidegated status")
        # a gate that is killed leaves its programs, and the package removes them
        gate.kill()
        gate.wait()
        assert "tidegate" in bare.run("tc filter show dev wan0 egress")
    finally:
        gate.kill()
        gate.wait()
    bare.run("rm /etc/tidegate/wan0.toml; apt-get purge -y tidegated && apt-get autoremove -y")
    assert bare.run("tc filter show dev wan0 egress; tc filter show dev wan0 ingress") == ""
    assert "clsact" not in bare.run("tc qdisc show dev wan0")
    left = {name for name in bare.files() - before if "tidegate" in name}
    assert left == set()


@pytest.fixture(scope="module")
def parts(bare: Bare, package: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Start systemd in the bare Debian, as the first program of a container."""
    groups = subprocess.run(
        ["findmnt", "-n", "-t", "cgroup2", "-o", "TARGET"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    if not groups:
        pytest.skip("systemd needs control groups of version 2")
    output, group = tmp_path_factory.mktemp("systemd") / "output", Path(groups[0], bare.namespace)
    output.touch()
    own = [f"--{kind}" for kind in ("mount", "pid", "net", "uts", "ipc", "cgroup", "fork")]
    inside = ["bash", str(SYSTEMD), "container", str(bare.root), str(package.resolve()), output]
    join = f'echo $$ >{group}/cgroup.procs && exec "$@"'
    group.mkdir()
    try:
        subprocess.run(
            ["sh", "-c", join, "sh", "unshare", *own, "--kill-child", *inside],
            timeout=600,
            capture_output=True,
            check=False,
        )
    finally:
        time.sleep(1)  # until its last processes are gone
        for folder, _, _ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
    text = output.read_text()
    assert "== end\n" in text, text
    return dict(re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", text, re.MULTILINE))


def test_the_unit_runs_with_its_few_rights(parts: dict[str, str]) -> None:
    assert parts["installed"] == ""
    assert parts["enabled"].startswith(
        "active\nType=notify\nNRestarts=0\nwan0 observe, attached at"
    )
    rights = dict(re.findall(r"^(\w+):\s+(\w+)", parts["rights"], re.MULTILINE))
    assert int(rights["Uid"]) >= 61184, "a dynamic user (systemd.exec)"
    # CAP_NET_ADMIN is 12, CAP_PERFMON 38, CAP_BPF 39
    assert rights["CapEff"] == rights["CapBnd"] == "000000c000001000"
    assert (rights["NoNewPrivs"], rights["Seccomp"]) == ("1", "2")
    assert parts["without a call that is not allowed"] == "NRestarts=0\nActiveState=active\n"


def test_the_unit_obeys_orders_and_its_file(parts: dict[str, str]) -> None:
    answered = {name[9:]: text for name, text in parts.items() if name.startswith("answered ")}
    assert answered["while it observes"] == "40\n"
    number = int(answered["while it refuses"].split()[-1])
    assert number <= 20, "two a second"
    assert answered["after revert"] == "wan0: observing; nothing is refused\n40\n"
    assert "tbf" in parts["reloaded"]
    assert "not within" not in parts["reloaded"]
    assert int(answered["after the reload"]) <= 20
    assert parts["a wrong file"] == "refused\nactive\n"


def test_systemd_starts_a_gate_that_hangs_again(parts: dict[str, str]) -> None:
    assert parts["hung"] == "NRestarts=0\nResult=success\n"
    assert "Watchdog timeout" in parts["journal"]


def test_the_unit_is_purged(parts: dict[str, str]) -> None:
    assert parts["purged"] == "inactive\nqdisc noqueue 0: root refcnt 2 \n"
    assert parts["left"] == "/etc/tidegate\n/etc/tidegate/wan0.toml\n", "the user's"
