"""A kernel that is a process of this machine, and has a clock of its own.

User-mode Linux is the kernel's own source, compiled into a program. In its mode `time-travel` time
stands still while anything computes, and goes on to the next timer as soon as nothing does. So a
busy or slow machine changes nothing of what is measured, and nobody waits for idle time.

The source is that of a release of Debian (`linux-source`), the newest if nothing is said, compiled
once (`place`): ten minutes of processor time. A command in it finds this machine's files,
read-only, and memory at /tmp and /run; what it writes to /run/result is in a folder of this machine
behind it. It has one processor and no network. Programs of BPF are interpreted, which takes a few
changes of the source (`CHANGES`). It needs root and x86-64.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.hosts.archive import Archive, Obstacle, need

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHECKOUT = Path(__file__).parents[3]
NEWEST = "sid"
"""The release of Debian with the newest kernel."""
NEEDED = {
    "apt-cache": "apt",
    "dpkg-deb": "dpkg",
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "gcc": "gcc",
    "make": "make",
    "pahole": "dwarves",
    "xz": "xz-utils",
}
SETTINGS = """
64BIT BINFMT_ELF BINFMT_SCRIPT BPF_SYSCALL CGROUPS CGROUP_BPF DEBUG_INFO_BTF DEBUG_KERNEL
DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT DEVTMPFS DUMMY HIGH_RES_TIMERS HOSTFS IFB INET INET_DIAG
INET_TCP_DIAG IPC_NS IPV6 IP_ADVANCED_ROUTER MEMFD_CREATE NAMESPACES NET NETDEVICES NETFILTER
NETFILTER_ADVANCED NETFILTER_NETLINK NET_ACT_BPF NET_ACT_GACT NET_ACT_MIRRED NET_CLS_ACT NET_CLS_BPF
NET_CLS_MATCHALL NET_CLS_U32 NET_CORE NET_NS NET_SCHED NET_SCH_CAKE NET_SCH_CODEL NET_SCH_FQ
NET_SCH_FQ_CODEL NET_SCH_HTB NET_SCH_INGRESS NET_SCH_NETEM NET_SCH_PIE NET_SCH_PRIO NET_SCH_TBF
NFT_CT NFT_LIMIT NF_CONNTRACK NF_TABLES NF_TABLES_IPV4 NF_TABLES_IPV6 NO_HZ_IDLE NULL_CHAN PACKET
PID_NS PRINTK PROC_FS PROC_SYSCTL SECCOMP SECCOMP_FILTER STDERR_CONSOLE SYN_COOKIES SYSCTL SYSFS
SYSVIPC TCP_CONG_ADVANCED TCP_CONG_BBR TCP_CONG_CUBIC TIME_NS TMPFS TMPFS_XATTR TTY TUN
UML_TIME_TRAVEL_SUPPORT UNIX UNIX98_PTYS USER_NS UTS_NS VETH VLAN_8021Q
"""
"""What the command may need of the kernel; the rest is off."""
GETCPU = """
long __vdso_getcpu(unsigned int *cpu, unsigned int *node, void *cache);
long __vdso_getcpu(unsigned int *cpu, unsigned int *node, void *cache)
{
	if (cpu)
		*cpu = 0;
	if (node)
		*node = 0;
	return 0;
}
"""
VERIFIER, FIRST_CALL = "kernel/bpf/verifier.c", "int __vdso_clock_gettime(clockid_t"
CALLS = "\t\t__vdso_time;"
CHANGES = (
    # two functions of the kernel that the gate's programs call are replaced by moves of a register
    # before they would be called, so an interpreter can do without them
    (
        VERIFIER,
        'if (!env->prog->jit_requested) {\n\t\t\tverbose(env, "JIT is required for calling',
        'if (0) {\n\t\t\tverbose(env, "JIT is required for calling',
    ),
    (VERIFIER, "if (!bpf_jit_supports_kfunc_call())", "if (0)"),
    # the interpreter reads the kernel's memory, as compiled programs do
    ("include/linux/bpf.h", "if (IS_ENABLED(CONFIG_BPF_EVENTS))\n\t\tret =", "if (1)\n\t\tret ="),
    # as in Debian's kernels
    ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100", "config HZ\n\tint\n\tdefault 250"),
)
"""Changes of the source: the file, what is there once, what it becomes."""
CHANGES_OF = {
    NEWEST: (
        (VERIFIER, "\n\tenv->prog->jit_required = 1;\n", "\n"),
        # Rust's rustix asks for it; 6.12 still has it
        ("arch/x86/um/vdso/um_vdso.c", FIRST_CALL, GETCPU + FIRST_CALL),
        ("arch/x86/um/vdso/vdso.lds.S", CALLS, CALLS + "\n\t\t__vdso_getcpu;"),
    ),
    "trixie": (),
}
"""The same of one release; those that are here have been tried."""
LACKS = {"trixie": {"TIME_NS"}}
"""Settings that a release's source does not have."""

FIRST = """#!/bin/bash
export {environment}
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /dev/net
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
mkdir /run/netns /run/lock /run/result
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
mount -t hostfs result /run/result -o {result}
hostname kernel
ip link set lo up
echo 100000 > /proc/sys/net/core/netdev_max_backlog
echo '600000 700000 800000' > /proc/sys/net/ipv4/tcp_mem
cd {folder}
{command} > /run/result/output 2>&1
echo $? > /run/result/code
sync
exec {python} -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
"""
"""What the kernel runs first; its last line switches it off (RB_POWER_OFF).

Whatever happens at one instant waits for the processor at once, so more may wait than the usual
thousand; and TCP may have 3.2 GB, as an overload without control met the usual limit.
"""

MEMORY = "12G"
"""The kernel's memory. The machine gives it what is touched: 0.4 GB at the start."""


def place(debian: str = NEWEST) -> Path:
    """Return the folder of the kernel: that of a checkout, else one in the user's cache.

    `debian` is the release whose source it is, such as `trixie`.
    """
    name = "own-clock" if debian == NEWEST else f"own-clock-{debian}"
    if (CHECKOUT / "Cargo.toml").exists():
        return CHECKOUT / "build" / "kernels" / name
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tidegate" / name


def run(
    program: Path, command: Sequence[str], seconds: float, result: Path, folder: Path
) -> tuple[int, str]:
    """Run a command in the kernel, from a folder; return its exit code and what it printed.

    `result` is its /run/result. The kernel is ended after `seconds`, with the code 1.
    """
    kept = {"HOME": "/tmp", "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    kept |= {name: os.environ[name] for name in ("PYTHONPATH", "TIDEGATED") if name in os.environ}
    first = result / "first"
    first.write_text(
        FIRST.format(
            environment=" ".join(f"{name}='{value}'" for name, value in kept.items()),
            command=" ".join(f"'{word}'" for word in command),
            result=result,
            folder=folder,
            python=sys.executable,
        )
    )
    first.chmod(0o755)
    words = [str(program), f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs"]
    words += ["rootflags=/", "ro"]
    words += [f"init={first}", "time-travel=inf-cpu", "seccomp=on", "con=null", "con0=null"]
    ended = ""
    with (result / "console").open("wb") as console:
        try:
            subprocess.run(
                [*words, "panic=-1", "quiet"],
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired:
            ended = f"the kernel is ended: {seconds:g} s are over\n"
    output, code = result / "output", result / "code"
    said = output if output.exists() else result / "console"
    printed = said.read_text(errors="replace")
    return (int(code.read_text()) if code.exists() else 1), ended + printed


def kernel(say: Callable[[str], object], debian: str = NEWEST) -> Path:
    """Return the kernel of a release of Debian, compiled if it is not there.

    Obstacle: there can be none.
    """
    home = place(debian)
    program = home / "linux"
    if os.uname().machine != "x86_64" or os.geteuid() != 0:
        raise Obstacle("it needs root and x86-64")
    if program.exists():
        return program
    need(NEEDED)
    say("compile a kernel with a clock of its own, once: ten minutes of processor time")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    tree = source(home, debian)
    for file, old, new in (*CHANGES, *CHANGES_OF[debian]):
        changed(tree / file, old, new)
    make = ["make", "-s", "ARCH=um", f"-j{os.cpu_count() or 1}"]
    wanted = tree / "wanted.config"
    settings = set(SETTINGS.split()) - LACKS.get(debian, set())
    wanted.write_text("".join(f"CONFIG_{name}=y\n" for name in sorted(settings)))
    _do([*make, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"], tree)
    refused = settings - _settings(tree / ".config")
    if refused:
        raise Obstacle(f"this source has no setting {', '.join(sorted(refused))}")
    _do([*make, "linux"], tree)
    shutil.copy(tree / "linux", program)
    shutil.rmtree(tree)
    return program


def release(program: Path) -> str:
    """Return the version of the kernel."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def source(home: Path, debian: str) -> Path:
    """Return the folder of the source of Linux in a release of Debian, unpacked into a folder."""
    archive = Archive(debian, home.with_name(f"apt-{debian}"))
    name = next(each for each in archive.needs("linux-source") if each.startswith("linux-source-"))
    [package] = archive.download(name)
    _do(["dpkg-deb", "-x", str(package), str(home)], home)
    package.unlink()
    [packed] = home.rglob("linux-source-*.tar.xz")
    _do(["tar", "-xf", str(packed), "-C", str(home)], home)
    return home / name


def changed(file: Path, old: str, new: str) -> None:
    """Replace what a file has once."""
    text = file.read_text()
    if text.count(old) != 1:
        raise Obstacle(f"{file.name} of this source has {text.count(old)} times: {old.strip()}")
    file.write_text(text.replace(old, new))


def _settings(file: Path) -> set[str]:
    lines = file.read_text().splitlines()
    return {line[7:-2] for line in lines if line.startswith("CONFIG_") and line.endswith("=y")}


def _do(words: list[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Obstacle(f"{' '.join(words)}: {done.stderr.strip()[-2000:]}")
