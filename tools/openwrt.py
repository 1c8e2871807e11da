"""Make the package of tidegated for routers with OpenWrt: `make openwrt`.

The program is one file without libraries, so it does not matter which C library the router has.
It has the commands of the gate alone. It is compiled by the tools of Debian's newest release, in
a folder of their own (`build/openwrt`): they have Rust's library for other processors. The
package is `dist/tidegated_VERSION_PROCESSOR.ipk`. Its contents alone, for a router without opkg,
are beside it as `.tar.gz`.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from tidegate.hosts.archive import Archive, Obstacle, need

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "openwrt"
DIST = ROOT / "dist"
SERVICE = ROOT / "tools" / "packaging" / "openwrt"
RELEASE = "sid"
TOOLS = {"mmdebstrap": "mmdebstrap", "unshare": "util-linux", "chroot": "coreutils"}
SYSTEM = ("base-files", "coreutils", "dash", "findutils", "grep", "sed")
COMPILERS = ("rustc", "cargo", "clang", "gcc", "libc6-dev", "make", "pkg-config")
LIBRARIES = ("libelf", "zlib1g", "libzstd")
"""What the program has in it besides the C library; libelf wants the third one."""
NEEDS = "kmod-sched-core, kmod-sched-bpf"
"""Modules of OpenWrt's kernel: HTB and clsact, and filters of BPF."""


@dataclass(frozen=True)
class Processor:
    """A kind of router: what Debian, Rust and the compiler of C call its processor."""

    debian: str
    rust: str
    gnu: str

    @property
    def flags(self) -> str:
        """Return what Rust is told: no shared library, and no tables for unwinding."""
        static = "-C target-feature=+crt-static -C relocation-model=static"
        return f"{static} -C force-unwind-tables=no"


PROCESSORS = {
    "aarch64": Processor("arm64", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu"),
    "armv7l": Processor("armhf", "armv7-unknown-linux-gnueabihf", "arm-linux-gnueabihf"),
    "x86_64": Processor("amd64", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu"),
}
"""By the name that `uname -m` prints there."""

# in a mount namespace of its own, so that nothing stays mounted
WITHIN = """
set -e
mount --bind -o ro {source} {tools}/source
mount --bind {cargo} {tools}/cargo
mount --bind {target} {tools}/target
mount -t proc proc {tools}/proc
exec chroot {tools} /usr/bin/env -i HOME=/tmp PATH=/usr/bin {environment} sh -ec '{command}'
"""
COMMAND = """
cd /source
cargo build --quiet --locked --offline --profile router --package tidegated \
    --no-default-features --features gate --target {rust}
"""
WRONG_PROCESSOR = """#!/bin/sh
[ -n "$IPKG_INSTROOT" ] || [ "$(uname -m)" = {name} ] || {{
	echo "this package is for {name}, and this router is $(uname -m)" >&2
	exit 1
}}
"""
INSTALLED = """#!/bin/sh
# the file that comes with it has no gate that is enabled
[ -n "$IPKG_INSTROOT" ] || { /etc/init.d/tidegated enable; /etc/init.d/tidegated start; }
"""
REMOVED = """#!/bin/sh
[ -n "$IPKG_INSTROOT" ] || { /etc/init.d/tidegated stop; /etc/init.d/tidegated disable; }
"""


def main(arguments: list[str] | None = None) -> int:
    """Make a package for each processor that is named; 1 if one cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m tools.openwrt", description=__doc__)
    parser.add_argument("processor", nargs="*", default=["aarch64"], metavar="PROCESSOR")
    asked = parser.parse_args(arguments)
    for name in asked.processor:
        if name not in PROCESSORS:
            parser.error(f"{name} is not known: {', '.join(PROCESSORS)}")
        try:
            program = built(name)
        except Obstacle as reason:
            print(f"no package for {name}: {reason}", file=sys.stderr)
            return 1
        for file in write(name, program.read_bytes()):
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB")
        print(f"the program itself: {program.stat().st_size / 1e6:.1f} MB")
    return 0


def built(name: str) -> Path:
    """Compile the program for a processor, and return its file."""
    again = 'sudo env "PATH=$PATH" "HOME=$HOME" make openwrt'
    if os.geteuid() != 0:
        raise Obstacle(f"it takes root: {again}")
    if shutil.which("cargo") is None:
        raise Obstacle(f"root finds no cargo: {again}")
    need(TOOLS)
    processor = PROCESSORS[name]
    tools, target = toolchain(name), BUILD / f"target-{name}"
    target.mkdir(parents=True, exist_ok=True)
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    fetched = subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=ROOT, check=False)
    if fetched.returncode != 0:
        raise Obstacle("cargo fetch failed")
    upper = processor.rust.upper().replace("-", "_")
    environment = {
        "CARGO_HOME": "/cargo",
        "CARGO_TARGET_DIR": "/target",
        # Debian's names of them, as no script of its packages has run here
        "CC": "gcc",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER": "gcc",
        f"CARGO_TARGET_{upper}_LINKER": f"{processor.gnu}-gcc",
        f"CC_{processor.rust.replace('-', '_')}": f"{processor.gnu}-gcc",
        f"CARGO_TARGET_{upper}_RUSTFLAGS": processor.flags,
        f"LIBBPF_SYS_LIBRARY_PATH_{processor.rust.replace('-', '_')}": "/archives",
    }
    script = WITHIN.format(
        source=ROOT,
        cargo=cargo,
        target=target,
        tools=tools,
        environment=" ".join(f'{key}="{value}"' for key, value in environment.items()),
        command=COMMAND.format(rust=processor.rust),
    )
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], check=False)
    if done.returncode != 0:
        raise Obstacle("it does not compile, see above")
    return target / processor.rust / "router" / "tidegated"


def toolchain(name: str) -> Path:
    """Return a folder with Debian's compilers for a processor; they are unpacked once."""
    place = BUILD / f"tools-{name}"
    if place.exists():
        return place
    part = BUILD / f"tools-{name}.part"
    shutil.rmtree(part, ignore_errors=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    processor = PROCESSORS[name]
    packages = [*SYSTEM, *COMPILERS, *(f"{library}-dev" for library in LIBRARIES)]
    packages += [f"{library}-dev:{processor.debian}" for library in LIBRARIES]
    packages += [f"libstd-rust-dev:{processor.debian}", f"libc6-dev:{processor.debian}"]
    packages += [f"gcc-{processor.gnu.replace('_', '-')}"]
    unpack(part, RELEASE, ["amd64", processor.debian], packages)
    for folder in ("source", "cargo", "target", "archives", "proc"):
        (part / folder).mkdir(exist_ok=True)
    # without the shared libraries beside them, which the linker would take first; the first file
    # is a script of the linker's, as libelf names what it wants to nobody
    there = f"/usr/lib/{processor.gnu}"
    group = f"GROUP ( {there}/libelf.a {there}/libzstd.a )\n"
    (part / "archives" / "libelf.a").write_text(group)
    (part / "archives" / "libz.a").symlink_to(f"{there}/libz.a")
    part.rename(place)
    return place


def unpack(place: Path, release: str, architectures: list[str], packages: list[str]) -> None:
    """Unpack packages of Debian with all that they need; none of their scripts runs."""
    archive = Archive(release, BUILD / f"apt-{release}")
    words = ["mmdebstrap", "--quiet", "--variant=extract"]
    # a mirror may have an older list of the release
    words += ['--aptopt=Acquire::Check-Valid-Until "false"']
    words += [f"--architectures={','.join(dict.fromkeys(architectures))}"]
    words += [f"--include={','.join(dict.fromkeys(packages))}"]
    words += [
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
    ]
    done = subprocess.run([*words, release, place, archive.mirror], check=False)
    if done.returncode != 0:
        shutil.rmtree(place, ignore_errors=True)
        raise Obstacle(f"Debian's {release} cannot be unpacked, see above")


def version() -> str:
    """Return the version of the workspace."""
    found = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def write(name: str, program: bytes, folder: Path = DIST) -> tuple[Path, Path]:
    """Write the package of a program, and its contents alone; the same program, the same bytes."""
    contents = packed(
        {
            "./usr/sbin/tidegated": (program, 0o755),
            "./etc/init.d/tidegated": ((SERVICE / "tidegated.init").read_bytes(), 0o755),
            "./etc/config/tidegated": ((SERVICE / "tidegated.config").read_bytes(), 0o600),
        }
    )
    control = packed(
        {
            "./control": (described(len(program)).encode(), 0o644),
            "./conffiles": (b"/etc/config/tidegated\n", 0o644),
            "./preinst": (WRONG_PROCESSOR.format(name=name).encode(), 0o755),
            "./postinst": (INSTALLED.encode(), 0o755),
            "./prerm": (REMOVED.encode(), 0o755),
        }
    )
    folder.mkdir(exist_ok=True)
    package = folder / f"tidegated_{version()}_{name}.ipk"
    parts = {
        "./debian-binary": (b"2.0\n", 0o644),
        "./control.tar.gz": (control, 0o644),
        "./data.tar.gz": (contents, 0o644),
    }
    package.write_bytes(packed(parts))
    alone = folder / f"tidegated_{version()}_{name}.tar.gz"
    alone.write_bytes(contents)
    return package, alone


def described(size: int) -> str:
    """Return what opkg is told; the package is for `all`, as `preinst` knows the processor."""
    return (
        f"Package: tidegated\nVersion: {version()}\nDepends: {NEEDS}\nArchitecture: all\n"
        f"Installed-Size: {size}\nSection: net\nLicense: MIT OR Apache-2.0\n"
        "Maintainer: the authors of tidegate <tidegate@localhost>\n"
        "Description: admits new TCP sessions at an overloaded link\n"
    )


def packed(files: dict[str, tuple[bytes, int]]) -> bytes:
    """Return files with their modes as a .tar.gz: each folder before what is in it."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.GNU_FORMAT) as tar:
        folders: set[str] = set()
        for path, (data, mode) in files.items():
            for folder in reversed(Path(path).parents[:-1]):
                if str(folder) not in folders:
                    folders.add(str(folder))
                    entry = tarfile.TarInfo(f"./{folder}")
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(entry)
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), mode
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(held.getvalue(), 9, mtime=0)


if __name__ == "__main__":
    sys.exit(main())
