"""Run the package of `make openwrt` in a kernel for aarch64, under qemu: `make test-openwrt`.

The kernel is Debian's, as no image of OpenWrt is in an archive of packages. The system is busybox,
as on a router; Python opens the connections. The gate refuses a crowd, first in a kernel that
tells its types (BTF), then with them hidden, as OpenWrt's kernels have none. After each the gate
is killed, and everybody gets in.
"""

from __future__ import annotations

import gzip
import io
import re
import shutil
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

from tidegate.hosts.archive import Archive, Obstacle, need
from tools import openwrt, rust_targets

if TYPE_CHECKING:
    from pathlib import Path

NAME = "aarch64"
DEBIAN = "arm64"
"""What Debian calls this processor."""
RELEASE = "sid"
TOOLS = {
    "qemu-system-aarch64": "qemu-system-arm",
    "cpio": "cpio",
    "depmod": "kmod",
    "mmdebstrap": "mmdebstrap",
}
PACKAGES = ["base-files", "busybox", "iproute2", "kmod", "python3-minimal"]
PACKAGES += ["linux-image-cloud-arm64"]
SECONDS = 900
MANY = 40
FEW = 8
"""Four saved tokens, two of the second that the crowd takes, and a turn of an epoch."""

# waits two seconds for each connection, which is too short for a second SYN to get in
CROWD = f"""
import selectors, socket, sys, time
until, chosen, got = time.monotonic() + 2, selectors.DefaultSelector(), 0
for _ in range({MANY}):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("10.9.0.2", 4433))
    chosen.register(one, selectors.EVENT_WRITE)
while chosen.get_map() and time.monotonic() < until:
    for key, _ in chosen.select(max(0, until - time.monotonic())):
        chosen.unregister(key.fileobj)
        got += key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
print(f"crowd {{sys.argv[1]}}: {{got}}", flush=True)
"""
SERVER = """
import socket
server, held = socket.create_server(("10.9.0.2", 4433), backlog=1000), []
open("/run/listens", "w").close()
while True:
    held.append(server.accept())
"""
GATE = """interface = "wan"
mode = "enforce"
law = { law = "fixed-rate", rate = "2/s" }
lease = "1s"
socket = "/run/gate.sock"
"""
FIRST = """#!/usr/bin/busybox sh
/usr/bin/busybox mount -t proc proc /proc
/usr/bin/busybox --install -s /usr/bin
export PATH=/usr/sbin:/usr/bin
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
mkdir -p /run/netns
mount -t bpf bpf /sys/fs/bpf
for module in veth sch_htb sch_ingress cls_bpf; do modprobe $module; done
echo "kernel $(uname -r) $(uname -m)"
sh /package/preinst || echo "the package refuses this processor"
ip link set lo up
ip netns add far
ip link add wan type veth peer name lan netns far
ip address add 10.9.0.1/24 dev wan
ip link set wan up
ip -n far address add 10.9.0.2/24 dev lan
ip -n far link set lan up
ip netns exec far python3 /package/server.py &
until [ -e /run/listens ]; do sleep 1; done
python3 /package/crowd.py without
for types in told hidden; do
    [ $types = told ] || mount -t tmpfs none /sys/kernel/btf
    tidegated doctor
    echo "doctor $types: $?"
    tidegated gate --config /package/gate.toml &
    gate=$!
    until tidegated status --socket /run/gate.sock >/dev/null 2>&1; do sleep 1; done
    python3 /package/crowd.py $types
    sleep 2
    tidegated status --socket /run/gate.sock
    grep VmHWM /proc/$gate/status
    kill -9 $gate
    sleep 2
    python3 /package/crowd.py killed-$types
done
echo ended
poweroff -f
"""


def main() -> int:
    """Boot the kernel and compare what it said; 1 if a rule does not hold."""
    try:
        need(TOOLS)
        console = booted(first_files(openwrt.built(NAME)))
    except (Obstacle, rust_targets.LackingError) as reason:
        print(f"the package was not tried: {reason}", file=sys.stderr)
        return 1
    print(console)
    wrong = faults(console)
    for fault in wrong:
        print(f"not as it should be: {fault}", file=sys.stderr)
    return int(bool(wrong))


def faults(console: str) -> list[str]:
    """Return what does not hold in what the kernel said; `crowd NAME: N` is how many got in."""
    got = {name: int(number) for name, number in re.findall(r"crowd (\S+): (\d+)", console)}
    ends = dict(re.findall(r"doctor (\S+): (\d+)", console))
    wrong = [] if re.search(r"^ended\s*$", console, re.MULTILINE) else ["it did not end"]
    if "refuses this processor" in console:
        wrong.append("the package is for another processor")
    for name in ("without", "killed-told", "killed-hidden"):
        if got.get(name) != MANY:
            wrong.append(f"{name}: {got.get(name, 'nobody')} of {MANY} got in, and all should")
    for name in ("told", "hidden"):
        if not 1 <= got.get(name, 0) <= FEW:
            wrong.append(f"{name}: {got.get(name, 'nobody')} got in, and 1 to {FEW} should")
        if ends.get(name) != "0":
            wrong.append(f"doctor, types {name}: exit code {ends.get(name, 'none')}")
    return wrong


def first_files(program: Path) -> tuple[Path, Path]:
    """Return the kernel and its first files: the system, the package and what tries it."""
    folder = openwrt.BUILD / "router"
    if not folder.exists():
        part = openwrt.BUILD / "router.part"
        shutil.rmtree(part, ignore_errors=True)
        unpack(part)
        (version,) = (part / "usr/lib/modules").iterdir()
        subprocess.run(["depmod", "-b", part, version.name], check=True)
        shutil.move(version / "vmlinuz", openwrt.BUILD / "vmlinuz")
        part.rename(folder)
    package, _ = openwrt.write(NAME, program.read_bytes())
    tried = folder / "package"
    shutil.rmtree(tried, ignore_errors=True)
    with tarfile.open(package) as outer:
        for name, place in (("./data.tar.gz", folder), ("./control.tar.gz", tried)):
            inner = outer.extractfile(name)
            assert inner is not None
            with tarfile.open(fileobj=io.BytesIO(inner.read())) as tar:
                tar.extractall(place, filter="tar")
    for name, text in (("crowd.py", CROWD), ("server.py", SERVER), ("gate.toml", GATE)):
        (tried / name).write_text(text)
    (folder / "init").write_text(FIRST)
    (folder / "init").chmod(0o755)
    names = subprocess.run(["find", "."], cwd=folder, capture_output=True, check=True).stdout
    pack = ["cpio", "-o", "-H", "newc", "--quiet"]
    files = subprocess.run(pack, cwd=folder, input=names, capture_output=True, check=True).stdout
    first = openwrt.BUILD / "router.gz"
    first.write_bytes(gzip.compress(files, 1))
    return openwrt.BUILD / "vmlinuz", first


def unpack(place: Path) -> None:
    """Unpack the packages of the router with all that they need; none of their scripts runs."""
    archive = Archive(RELEASE, openwrt.BUILD / f"apt-{RELEASE}")
    words = ["mmdebstrap", "--quiet", "--variant=extract", f"--architectures={DEBIAN}"]
    # a mirror may have an older list of the release
    words += ['--aptopt=Acquire::Check-Valid-Until "false"', f"--include={','.join(PACKAGES)}"]
    words += [f"--dpkgopt=path-exclude=/usr/share/{each}/*" for each in ("doc", "locale")]
    done = subprocess.run([*words, RELEASE, place, archive.mirror], check=False)
    if done.returncode != 0:
        shutil.rmtree(place, ignore_errors=True)
        raise Obstacle(f"Debian's {RELEASE} cannot be unpacked, see above")


def booted(files: tuple[Path, Path]) -> str:
    """Run qemu until the kernel switches itself off; return what it wrote to its console."""
    kernel, first = files
    words = ["qemu-system-aarch64", "-machine", "virt", "-cpu", "max", "-smp", "2", "-m", "2G"]
    words += ["-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"]
    words += ["-kernel", str(kernel), "-initrd", str(first)]
    words += ["-append", "console=ttyAMA0 quiet panic=-1"]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        raise Obstacle(f"the kernel did not end within {SECONDS} s:\n{said[-4000:]}") from None
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
