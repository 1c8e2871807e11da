"""Settings of a kernel's network, set and read back.

`sysctl` says that it has set what the kernel has refused: it ends with 0. So a setting is written
to /proc/sys, and is wrong if it stays what it was. As a program this file sets those of its command
line in the network namespace that it runs in, and ends with 1 at the first that is wrong:

    nsenter --net=/run/netns/NAME python sysctl.py NAME=VALUE...
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path("/proc/sys")


def put(setting: str, root: Path = ROOT) -> str | None:
    """Set NAME=VALUE; return what is wrong with it, or None."""
    name, _, value = setting.partition("=")
    file = root.joinpath(*name.split("."))
    try:
        before = _words(file.read_text(encoding="utf-8"))
        file.write_text(f"{value}\n", encoding="utf-8")
        after = _words(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{setting}: this kernel has no {name} in a network namespace"
    except OSError as error:
        return f"{setting}: this kernel does not take it ({error.strerror})"
    # a kernel may write a value in another way than it was told
    if after == before != _words(value):
        return f"{setting}: this kernel does not take it, it stays {' '.join(map(str, before))}"
    return None


def _words(text: str) -> list[int | str]:
    return [_number(word) for word in text.split()]


def _number(word: str) -> int | str:
    try:
        return int(word, 0)
    except ValueError:
        return word


def command(settings: Sequence[str]) -> list[str]:
    """Return the command that sets these in the namespace in which it is run."""
    return [sys.executable, str(Path(__file__)), *settings]


def tried(settings: Sequence[str]) -> str | None:
    """Try settings in a namespace that is gone afterwards; return what is wrong, or None."""
    alone = shutil.which("unshare")
    if not settings or alone is None:
        return None
    whole = [alone, "--net", *command(settings)]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    return done.stderr.strip() or None if done.returncode else None


def main() -> int:
    """Set what the command line says."""
    for setting in sys.argv[1:]:
        if wrong := put(setting):
            sys.stderr.write(f"{wrong}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
