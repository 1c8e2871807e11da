"""Run the tests of the gate in the kernels of Debian's releases, under qemu: `make test-kernels`.

Each kernel boots with this machine's files, read-only and below a file system in memory, so
that a test finds the same programs there. It has no network. Its packages are downloaded once,
to `build/kernels`. A kernel is ended after a fixed time.

What the live tests said is kept; `--table` prints it by what may go wrong, for each kernel.

With `--virtual-clock` the kernel's clock counts the instructions that it executes, one a
nanosecond, and runs on while it is idle. A slow or busy machine takes longer, and changes little of
what is measured there.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import time
from enum import Enum
from pathlib import Path

from tidegate.hosts.archive import Archive, Obstacle, need
from tools import kernel_tests

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "kernels"
# the release that has each kernel
RELEASES = {"6.1": "bookworm", "6.12": "trixie", "newest": "sid"}
TOOLS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "kmod": "kmod",
    "zstd": "zstd",
    "apt-cache": "apt",
    "dpkg-deb": "dpkg",
}
# what the kernel needs to mount this machine's files
MODULES = ("virtio_pci", "virtio_rng", "9p", "9pnet_virtio", "overlay")
TESTS = (
    *("tests/live/test_gate.py", "tests/live/test_gate_faults.py", "tests/live/test_gate_trial.py"),
    *("-n", "0", "-q", "-rs", "--junitxml", "/run/result/tests.xml"),
)
SECONDS = 2400
"""A kernel is ended after so long."""
TRIES = 3
"""Starts of a kernel that panics while it starts."""

# in the first file system: load modules, lay memory over the machine's files, go there
FIRST = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
while read module; do insmod /modules/$module; done < /modules/order
share="trans=virtio,version=9p2000.L,msize=512000"
mount -t 9p -o $share,ro,cache=loose machine /machine
mount -t tmpfs -o size=1g memory /memory
mkdir /memory/changed /memory/work
mount -t overlay -o lowerdir=/machine,upperdir=/memory/changed,workdir=/memory/work all /all
for place in proc sys dev run tmp lib/modules; do mkdir -p /all/$place; done
mount -t tmpfs run /all/run
mount -t tmpfs tmp /all/tmp
mount -t 9p -o $share,ro,cache=loose modules /all/lib/modules
mkdir /all/run/result
mount -t 9p -o $share result /all/run/result
mount --move /proc /all/proc
mount --move /sys /all/sys
mount --move /dev /all/dev
exec switch_root /all /bin/bash /run/result/second
"""

# in the machine's files: what a system sets up before its services
SECOND = """
export {environment}
mkdir -p /dev/pts /dev/shm /run/netns
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
[ -e /sys/kernel/btf/vmlinux ] || echo 'this kernel describes no types (BTF)'
mkdir -p /dev/net
modprobe tun
hostname kernel
ip link set lo up
cd {folder}
{command} > /run/result/output 2>&1
echo $? > /run/result/code
sync
echo o > /proc/sysrq-trigger
sleep 60
"""


class Way(Enum):
    """How the processor of a kernel is made: options of qemu."""

    EMULATED = ("-smp", "2", "-accel", "tcg")
    KVM = ("-smp", "2", "-accel", "kvm")
    VIRTUAL_CLOCK = (
        *("-smp", "1", "-accel", "tcg,thread=single"),
        # with sleep=off its clock would run ahead while it waits for files of this machine
        *("-icount", "shift=0,sleep=on", "-rtc", "clock=vm"),
    )


def options() -> argparse.ArgumentParser:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.kernels", description=__doc__)
    parser.add_argument("--kernel", choices=RELEASES, action="append", help="default: each")
    clock = parser.add_mutually_exclusive_group()
    # a machine that is virtual itself may have /dev/kvm and fail to boot with it
    clock.add_argument("--kvm", action="store_true", help="use the processor's virtualisation")
    clock.add_argument("--virtual-clock", action="store_true", help="its clock counts instructions")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="end a kernel after so long")
    parser.add_argument("--table", action="store_true", help="print what the last tests said")
    parser.add_argument("command", nargs="*", help="instead of the live tests; after --")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the tests in each kernel; 1 if one of them failed."""
    asked = options().parse_args(arguments)
    if asked.table:
        print(kernel_tests.table({name: kernel_tests.read(outcomes(name)) for name in RELEASES}))
        return 0
    tests = [sys.executable, "-m", "pytest", *TESTS]
    way = Way.KVM if asked.kvm else Way.VIRTUAL_CLOCK if asked.virtual_clock else Way.EMULATED
    failed = 0
    for kernel in asked.kernel or RELEASES:
        try:
            check()
            failed += run(kernel, asked.command or tests, way, asked.seconds)
        except Obstacle as reason:
            print(f"kernel {kernel}: skipped, {reason}")
    return min(failed, 1)


def check() -> None:
    """Refuse a machine that cannot run a kernel of Debian's."""
    if os.uname().machine != "x86_64":
        raise Obstacle("only kernels for amd64 are tried")
    need(TOOLS)


def run(kernel: str, command: list[str], way: Way, seconds: int) -> bool:
    """Boot a kernel, run a command in it, print what it printed; whether it failed."""
    image, modules = files(kernel)
    result = BUILD / f"result-{kernel}"
    shutil.rmtree(result, ignore_errors=True)
    result.mkdir(parents=True)
    kept = {"HOME": "/tmp", "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    environment = " ".join(f"{name}={value}" for name, value in kept.items())
    words = " ".join(f"'{word}'" for word in command)
    (result / "second").write_text(
        SECOND.format(environment=environment, folder=ROOT, command=words)
    )
    first, code = first_files(kernel, modules), result / "code"
    for _ in range(TRIES):
        begun = time.monotonic()
        console = boot(image, first, modules, result, way, seconds)
        took = time.monotonic() - begun
        # an emulated kernel may panic before it runs anything
        if code.exists() or (result / "output").exists() or "Kernel panic" not in console:
            break
        print(f"kernel {kernel}: it panicked while it started; it is started again")
    if not code.exists():
        print(console[-4000:])
        print(f"kernel {kernel}: did not end within {seconds} s, or did not boot")
        return True
    print((result / "output").read_text())
    number = int(code.read_text())
    print(f"kernel {next(modules.iterdir()).name}: exit code {number}, {took:.0f} s")
    if (tests := result / "tests.xml").exists():
        shutil.copy(tests, outcomes(kernel))
        if not any(what == "passed" for _, what, _ in kernel_tests.read(tests)):
            print("no test was run")
            return True
    return number != 0


def outcomes(kernel: str) -> Path:
    """Return where the outcome of a kernel's tests is kept."""
    return BUILD / f"tests-{kernel}.xml"


def boot(image: Path, first: Path, modules: Path, result: Path, way: Way, seconds: int) -> str:
    """Run qemu until the kernel switches itself off; what it wrote to its console."""
    shares = {"machine": (Path("/"), True), "modules": (modules, True), "result": (result, False)}
    words = ["qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none"]
    words += ["-serial", "stdio", "-m", "3G", "-device", "virtio-rng-pci", "-cpu", "max"]
    words += way.value
    words += ["-kernel", str(image), "-initrd", str(first)]
    words += ["-append", "console=ttyS0 quiet panic=-1"]
    for tag, (folder, locked) in shares.items():
        options = f"local,path={folder},mount_tag={tag},security_model=none,multidevs=remap"
        words += ["-virtfs", options + (",readonly=on" if locked else "")]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as machine:
        try:
            console, _ = machine.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            machine.kill()
            console, _ = machine.communicate()
    return console.decode(errors="replace")


def files(kernel: str) -> tuple[Path, Path]:
    """Return a kernel and its folder of modules, downloaded if they are not there."""
    place = BUILD / kernel
    if not place.exists():
        unpacked = BUILD / f"{kernel}.part"
        shutil.rmtree(unpacked, ignore_errors=True)
        for package in download(RELEASES[kernel]):
            subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
            package.unlink()
        modules = _modules(unpacked)
        version = next(modules.iterdir()).name
        subprocess.run(["depmod", "-b", modules.parents[1], version], check=True)
        unpacked.rename(place)
    return next(path for path in place.rglob("vmlinuz*") if path.is_file()), _modules(place)


def _modules(place: Path) -> Path:
    """Return the folder of modules, by version, in an unpacked kernel."""
    found = (place / "usr/lib/modules", place / "lib/modules")
    return next(folder for folder in found if folder.exists())


def download(release: str) -> list[Path]:
    """Download the newest kernel of a release of Debian."""
    archive = Archive(release, BUILD / f"apt-{release}")
    image = next(
        name
        for name in archive.needs("linux-image-amd64")
        if name.startswith("linux-image-") and name[12].isdigit()
    )
    # of late the program and its modules have packages of their own
    parts = ("linux-binary-", "linux-modules-")
    return archive.download(image, *(one for one in archive.needs(image) if one.startswith(parts)))


def first_files(kernel: str, modules: Path) -> Path:
    """Make the first file system of a kernel: busybox, modules, and a script."""
    there = next(modules.iterdir())
    folder = BUILD / f"first-{kernel}"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("bin", "modules", "proc", "sys", "dev", "machine", "memory", "all"):
        (folder / name).mkdir(parents=True)
    busybox = shutil.which("busybox")
    assert busybox is not None
    shutil.copy(busybox, folder / "bin")
    (folder / "init").write_text(FIRST)
    (folder / "init").chmod(0o755)
    order = [path for path in in_order(there) if (there / path).exists()]
    for path in order:
        data = (there / path).read_bytes()
        (folder / "modules" / bare(path)).write_bytes(plain(path, data))
    (folder / "modules/order").write_text("".join(f"{bare(path)}\n" for path in order))
    names = subprocess.run(["find", "."], cwd=folder, capture_output=True, check=True).stdout
    packed = subprocess.run(
        ["cpio", "-o", "-H", "newc", "--quiet"],
        cwd=folder,
        input=names,
        capture_output=True,
        check=True,
    )
    file = BUILD / f"first-{kernel}.gz"
    file.write_bytes(gzip.compress(packed.stdout, 1))
    return file


def in_order(there: Path) -> list[str]:
    """Return the files of the modules that are needed first, each behind what it needs."""
    needs: dict[str, list[str]] = {}
    for line in (there / "modules.dep").read_text().splitlines():
        path, _, others = line.partition(":")
        needs[path] = others.split()
    by_name = {bare(path).removesuffix(".ko"): path for path in needs}
    order: list[str] = []
    for name in MODULES:
        found = by_name.get(name)  # absent: built into the kernel
        for each in [*reversed(needs[found]), found] if found else []:
            if each not in order:
                order.append(each)
    return order


def bare(path: str) -> str:
    """Return the name of a module's file, uncompressed."""
    return Path(path).name.removesuffix(".xz").removesuffix(".zst")


def plain(path: str, data: bytes) -> bytes:
    """Return a module, uncompressed."""
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
    return data


if __name__ == "__main__":
    sys.exit(main())
