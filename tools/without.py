"""Run tidegate with a control of another project from which one part is taken away.

`python -m tools.without NAME COMMAND ...` copies the crate, changes the part, builds the simulator
with it, and runs the command of tidegate. So a reason for a verdict is tried: if the part is the
reason, the verdict goes with it. Without arguments it lists the parts. `certify` saves its runs
apart, in `build/without/NAME`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "without"
NATIVE = "_native.abi3.so"


@dataclass(frozen=True)
class Change:
    """One place of a crate: what is found there, once, and what stands there then."""

    file: str
    found: str
    put: str


@dataclass(frozen=True)
class Part:
    """A part of a crate's control, and what it takes to be without it."""

    says: str
    crate: str
    changes: tuple[Change, ...]


S2N = "s2n-quic-core"
LEAST_WINDOW = (
    Change("recovery/bbr.rs", r"(MIN_PIPE_CWND_PACKETS: u16 =) 4;", r"\1 1;"),
    Change("recovery/bbr.rs", r"(let offload_budget =) 3 ", r"\1 1 "),
)
CONSERVED = Change(
    "recovery/bbr.rs",
    r"(\n +)(self\.cwnd = cwnd\.clamp\()",
    r"\1if self.recovery_state != recovery::State::Recovered {"
    r"\1    cwnd = cwnd.min(*self.bytes_in_flight + newly_acked as u32);"
    r"\1}\1\2",
)
PARTS = {
    "s2n-least-window": Part(
        "s2n:bbr2 without its least window of four packets: it is one", S2N, LEAST_WINDOW
    ),
    "s2n-surplus": Part(
        "s2n:bbr2, which sends in recovery no more than arrives (packet conservation)",
        S2N,
        (CONSERVED,),
    ),
    "s2n-least-window-surplus": Part("both", S2N, (*LEAST_WINDOW, CONSERVED)),
    "s2n-tolerance": Part(
        "s2n:bbr2, which takes a thousandth in one burst for too many losses, in place of a "
        "fiftieth in two bursts",
        S2N,
        (
            Change("recovery/bbr.rs", r"(LOSS_THRESH: .+new_raw)\(1, 50\)", r"\1(1, 1000)"),
            Change("recovery/bbr/probe_bw.rs", r"(FULL_LOSS_COUNT: u8 =) 2;", r"\1 1;"),
        ),
    ),
    "s2n-old-interval": Part(
        "s2n:bbr2, whose samples of the rate never keep the interval of an earlier one",
        S2N,
        (
            Change(
                "recovery/bandwidth/estimator.rs",
                r"(\|\| newest_acked_packet_info\.delivered_bytes) > ",
                r"\1 >= ",
            ),
        ),
    ),
    "s2n-pacing": Part(
        "s2n:cubic without pacing",
        S2N,
        (Change("recovery/pacing.rs", r"(PACING_RTT: .+)from_millis\(2\)", r"\1from_secs(3600)"),),
    ),
    "s2n-least-rtt": Part(
        "s2n:cubic, which goes by the smoothed round trip and not by the least",
        S2N,
        (Change("recovery/cubic.rs", r"(rtt_estimator\.)min_rtt\(\)", r"\1smoothed_rtt()"),),
    ),
    "s2n-hybrid-start": Part(
        "s2n:cubic, whose slow start ends by losses alone",
        S2N,
        (Change("recovery/hybrid_slow_start.rs", r"(N_SAMPLING: usize =) 8;", r"\1 usize::MAX;"),),
    ),
    **{
        f"{name}-least-window": Part(
            f"{name}:cubic and {name}:new-reno without a least window of two packets: it is one",
            f"{name}-proto",
            tuple(
                Change(f"congestion/{control}.rs", r"2 \* self\.current_mtu", "self.current_mtu")
                for control in ("cubic", "new_reno")
            ),
        )
        for name in ("quinn", "noq")
    },
    **{
        f"{name}-far-target": Part(
            f"{name}:cubic, whose target is 1.5 windows at most (RFC 9438, 4.2)",
            f"{name}-proto",
            (
                Change(
                    "congestion/cubic.rs",
                    r"(w_cubic\(t \+ rtt\.get\(\), self\.current_mtu\))",
                    r"\1.min(1.5 * super::Controller::window(self) as f64)",
                ),
            ),
        )
        for name in ("quinn", "noq")
    },
}


def changed(text: str, change: Change) -> str:
    """Return the text without the part; a part that is not there once is an error."""
    text, places = re.subn(change.found, change.put, text)
    if places != 1:
        message = f"{change.file} has {change.found!r} {places} times, not once: another version?"
        raise ValueError(message)
    return text


def source(crate: str) -> Path:
    """Return where cargo keeps the source of a crate, in the version that is built."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    version = next(each["version"] for each in lock["package"] if each["name"] == crate)
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    for found in home.glob(f"registry/src/*/{crate}-{version}"):
        return found
    message = f"no source of {crate} {version} in {home}: cargo fetch --locked"
    raise FileNotFoundError(message)


def copied(part: Part, folder: Path) -> Path:
    """Copy the crate of a part into a folder, without the part."""
    copy = folder / part.crate
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source(part.crate), copy)
    for change in part.changes:
        file = copy / "src" / change.file
        file.write_text(changed(file.read_text(), change))
    return copy


def build(part: Part, folder: Path) -> Path:
    """Build the simulator with the changed crate; return the folder of its Python package."""
    copy = copied(part, folder)
    lock = ROOT / "Cargo.lock"
    before = lock.read_bytes()
    command = ["cargo", "rustc", "--release", "--offline", "--lib", "-p", "tidegate-py"]
    command += ["--features", "stacks,pyo3/extension-module"]
    command += ["--config", f"patch.crates-io.{part.crate}.path={json.dumps(str(copy))}"]
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    finally:
        # the changed crate is of no registry, which cargo notes
        lock.write_bytes(before)
    package = folder / "python" / "tidegate"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "tidegate", package, ignore=shutil.ignore_patterns("*.so"))
    shutil.copy2(ROOT / "target" / "release" / "lib_native.so", package / NATIVE)
    return package.parent


def main(arguments: list[str]) -> int:
    """Build without the part, then run the command."""
    if len(arguments) < 2 or arguments[0] not in PARTS:
        for name, part in PARTS.items():
            print(f"{name:26} {part.says}")
        return 2
    name, *command = arguments
    folder = BUILD / name
    try:
        package = build(PARTS[name], folder)
    except (FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    environment = {**os.environ, "PYTHONPATH": str(package)}
    if command[0] == "certify" and "--out" not in command:
        command += ["--out", str(folder / "runs")]
    return subprocess.run(
        [sys.executable, "-m", "tidegate", *command], env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
