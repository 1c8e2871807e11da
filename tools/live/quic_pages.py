"""Pages over QUIC by real ends behind an emulated link, beside the simulator's: a table.

    python -m tools.live.quic_pages [--pages 5]

The ends are quinn on sockets (tools/quic_ends), one of them behind `tidegated emulate`, on the link
of the scenario that the simulator runs with its quinn (`make stacks`), TLS by rustls in both.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import tidegate
from tidegate import _native
from tidegate.hosts.lab import interrupted, obstacle, program
from tidegate.scenario import toml
from tools.live import loads as links
from tools.live.quic import ENDS

CASES = tuple(
    (control, rate) for control in ("cubic", "new-reno") for rate in ("2Mbit", "10Mbit", "50Mbit")
)
BUILT = ENDS / "target" / "release" / "quic-ends"


def missing() -> str | None:
    """Return what is missing here, or None."""
    if reason := obstacle(gate=False):
        return reason
    if not BUILT.exists():
        return "quic-ends is not built: make test-tools"
    if "quinn" not in _native.STACKS:
        return "the simulator is built without stacks: make stacks"
    return None


def loads(control: str, rate: str, pages: int, folder: Path) -> tuple[list[float], float, str]:
    """Return the page loads between real ends and the simulated one in seconds, and the link."""
    page = links.page(rate, {"quic": {"control": control}}, document="50kB")
    text = toml.document(page)
    file, certificate = folder / "page.toml", folder / "certificate"
    file.write_text(text, encoding="utf-8")
    serve = [str(BUILT), "serve", "0.0.0.0:0", str(certificate), control]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        port = server.stderr.readline().strip().rpartition(":")[2]
        client = [str(BUILT), "page", f"OUTSIDE:{port}", str(certificate), "50000", "20000", "20"]
        command = [str(program()), "emulate", str(file), "--", *client, str(pages), control]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        finally:
            server.terminate()
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    real = [float(line) for line in done.stdout.split()]
    settings = {"traffic.web.transport.quic.crypto": "rustls"}
    simulated = tidegate.run(text, seed=1, settings=settings).pages["load_time_s"][0]
    return real, simulated, link(done.stderr)


def link(report: str) -> str:
    """Return from the emulator's report what the link towards the client did, as cells."""
    p50, p95 = re.findall(r"([\d.]+) \(p\d\d\)", report)[:2]
    [(came, went), *_] = re.findall(r"(\d+) read, (\d+) written", report)
    return f"{float(p50):.1f}, {float(p95):.1f} | {int(came) - int(went)}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=5)
    pages = parser.parse_args().pages
    if reason := missing():
        print(reason, file=sys.stderr)
        return 1
    print(
        "| control | link | real, s | simulated, s | simulated / real"
        " | delay of 20 ms: median, 95th percentile | lost |"
    )
    print("|---" * 7 + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for control, rate in CASES:
            every, simulated, kept = loads(control, rate, pages, Path(folder))
            real = median(every)
            said = f"| {control} | {rate} | {real:.3f} | {simulated:.3f} | {simulated / real:.3f}"
            print(f"{said} | {kept} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(interrupted(main))
