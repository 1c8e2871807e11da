"""Make the package of tidegated for routers with OpenWrt: `make openwrt`.

The program is one file without libraries, so it does not matter which C library the router has.
It has the commands of the gate alone. Zig compiles what is in C, links, and brings a library of C
(musl) for each processor; rustup brings Rust's. The sources of libelf and zlib come with the crate
of libbpf, whose own script cannot compile them for musl. The package is
`dist/tidegated_VERSION_PROCESSOR.ipk`. Its contents alone, for a router without opkg, are beside
it as `.tar.gz`.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from tools import rust_targets

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "openwrt"
DIST = ROOT / "dist"
SERVICE = ROOT / "tools" / "packaging" / "openwrt"
NEEDS = "kmod-sched-core, kmod-sched-bpf"
"""Modules of OpenWrt's kernel: HTB and clsact, and filters of BPF."""


@dataclass(frozen=True)
class Processor:
    """A kind of router: what Rust and Zig call its processor."""

    rust: str
    zig: str


PROCESSORS = {
    "aarch64": Processor("aarch64-unknown-linux-musl", "aarch64-linux-musl"),
    "armv7l": Processor("armv7-unknown-linux-musleabihf", "arm-linux-musleabihf"),
    "x86_64": Processor("x86_64-unknown-linux-musl", "x86_64-linux-musl"),
}
"""By the name that `uname -m` prints there."""

FOR_RUST = "-C target-feature=+crt-static -C force-unwind-tables=no"
FOR_C = "-Oz -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables"
"""No shared library, no tables for unwinding, and of C only the functions that are called."""
CONFIGURED = """
#define _GNU_SOURCE 1
#define PACKAGE_NAME "elfutils"
#define HAVE_ERR_H 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_REALLOCARRAY 1
#include <eu-config.h>
"""
"""What libelf is told of musl; without `USE_ZSTD` it reads no sections that zstd has compressed."""
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
        except rust_targets.LackingError as reason:
            print(f"no package for {name}: {reason}", file=sys.stderr)
            return 1
        for file in write(name, program.read_bytes()):
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB")
        print(f"the program itself: {program.stat().st_size / 1e6:.1f} MB")
    return 0


def built(name: str) -> Path:
    """Compile the program for a processor, and return its file; LackingError says what lacks."""
    processor = PROCESSORS[name]
    rust_targets.need(processor.rust)
    if not run(["bash", "tools/live.sh", "features"], stdout=subprocess.PIPE).stdout:
        raise rust_targets.LackingError("the gate cannot be built here, see above")
    crate = source_of_libbpf()
    place = BUILD / f"{name}-{crate.name}"
    place.mkdir(parents=True, exist_ok=True)
    headers = f"-w -I{crate / 'elfutils/libelf'} -I{crate / 'zlib'}"
    (place / "config.h").write_text(CONFIGURED)
    elf = ("-DHAVE_CONFIG_H", f"-I{place}", f"-I{crate / 'elfutils/lib'}", *headers.split())
    archive(processor, crate / "elfutils/libelf", place / "libelf.a", *elf)
    archive(processor, crate / "zlib", place / "libz.a", "-w", "-DHAVE_UNISTD_H")
    underscored = processor.rust.replace("-", "_")
    more = {
        "CARGO_TARGET_DIR": str(BUILD / "target"),
        "LIBBPF_SYS_EXTRA_CFLAGS": f"{FOR_C} {headers}",
        f"LIBBPF_SYS_LIBRARY_PATH_{underscored}": str(place),
        f"CARGO_TARGET_{underscored.upper()}_RUSTFLAGS": f"{FOR_RUST} {unnamed(crate.parent)}",
    }
    command = ["cargo", "zigbuild", "--quiet", "--locked", "--profile", "router"]
    command += ["--package", "tidegated", "--no-default-features", "--features", "gate"]
    command += ["--target", processor.rust]
    if run(command, environment=more).returncode != 0:
        raise rust_targets.LackingError("it does not compile, see above")
    return BUILD / "target" / processor.rust / "router" / "tidegated"


def unnamed(crates: Path) -> str:
    """Return what keeps folders of this machine out of the program, which names its sources."""
    sysroot = run(["rustc", "--print", "sysroot"], stdout=subprocess.PIPE).stdout.decode().strip()
    folders = (str(ROOT), str(crates), sysroot)
    return " ".join(f"--remap-path-prefix={folder}=." for folder in folders)


def source_of_libbpf() -> Path:
    """Return the folder with the sources of the crate that has libbpf, libelf and zlib."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    done = run(command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise rust_targets.LackingError("the crates cannot be fetched, see above")
    packages = json.loads(done.stdout)["packages"]
    (file,) = (each["manifest_path"] for each in packages if each["name"] == "libbpf-sys")
    return Path(file).parent


def archive(processor: Processor, source: Path, file: Path, *flags: str) -> None:
    """Compile all of a folder with sources in C into a static library."""
    if file.exists():
        return
    objects = file.with_suffix(".objects")
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir()
    zig, made = [sys.executable, "-m", "ziglang"], []
    for part in sorted(source.glob("*.c")):
        made.append(str(objects / part.with_suffix(".o").name))
        words = ["cc", "-target", processor.zig, *FOR_C.split(), *flags, "-c", str(part)]
        if run([*zig, *words, "-o", made[-1]]).returncode != 0:
            raise rust_targets.LackingError(f"{part.name} does not compile, see above")
    if run([*zig, "ar", "rcs", str(file), *made]).returncode != 0:
        raise rust_targets.LackingError(f"no {file.name} can be made, see above")


def run(
    command: list[str], environment: dict[str, str] | None = None, stdout: int | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command that finds Zig, and keeps what it has compiled in the folder of this tool."""
    caches = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "CARGO_ZIGBUILD_CACHE_DIR")
    given = os.environ | dict.fromkeys(caches, str(BUILD / "zig")) | (environment or {})
    given["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{given.get('PATH', '')}"
    return subprocess.run(command, cwd=ROOT, env=given, stdout=stdout, check=False)


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
