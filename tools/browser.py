"""A headless Chromium for tests of pages: opened, asked, typed into, and photographed.

It speaks the protocol of its developer tools over two pipes, so nothing is needed beside it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
PATIENCE_S = 300.0
"""How long an answer may take, on a busy machine too."""
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
    *("--remote-debugging-pipe", "about:blank"),
)


class PageError(Exception):
    """A page did not do what was asked of it."""


class Browser:
    """One page of one browser; `by` is what starts it, as in a namespace of its own."""

    def __init__(self, by: Sequence[str] = ()) -> None:
        if BROWSER is None:
            raise PageError("no Chromium here: as root, apt-get install -y chromium")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        shell = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out} >/dev/null 2>&1'
        profile = f"--user-data-dir={self.folder.name}"
        self.process = subprocess.Popen(
            [*by, "bash", "-c", shell, BROWSER, profile, *FLAGS],
            pass_fds=(theirs_in, theirs_out),
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.number = 0
        self.rest = b""
        self.session: str | None = None
        self.said: list[str] = []
        """What the console of the page said: errors and what it could not load."""
        [target] = [
            each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page"
        ]
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def call(self, method: str, **parameters: object) -> Any:  # noqa: ANN401
        """Call a method of the protocol on the page and return its result."""
        return self._called(method, parameters, self.session)

    def cpu_s(self) -> float:
        """Return the processor time of the page's process so far, in seconds."""
        found = self._called("SystemInfo.getProcessInfo", {}, None)["processInfo"]
        return max(float(each["cpuTime"]) for each in found if each["type"] == "renderer")

    def _called(self, method: str, parameters: dict[str, object], session: str | None) -> Any:  # noqa: ANN401
        self.number += 1
        message: dict[str, object] = {"id": self.number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self.number:
                if "error" in told:
                    raise PageError(f"{method}: {told['error']['message']}")
                return told["result"]
            self._heard(told)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                raise PageError(f"the browser did not answer in {PATIENCE_S:.0f} s")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise PageError("the browser has ended")
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told

    def _heard(self, told: dict[str, Any]) -> None:
        parameters = told.get("params", {})
        if told.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.said.append(str(details.get("exception", {}).get("description", details)))
        elif told.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.said.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif told.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.said.append(" ".join(str(each.get("value")) for each in parameters["args"]))

    def open(self, address: str) -> None:
        """Open a page anew, and wait until it is there."""
        self.said.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, script: str) -> Any:  # noqa: ANN401
        """Return the value of an expression in the page; a promise is waited for."""
        result = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise PageError(str(details.get("exception", {}).get("description", details)))
        return result["result"].get("value")

    def wait(self, script: str, seconds: float = PATIENCE_S) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + seconds
        while not self.value(script):
            if time.monotonic() > deadline:
                raise PageError(f"not so after {seconds:.0f} s: {script}")
            time.sleep(0.05)

    def size(self, wide: int, high: int, *, dark: bool = False) -> None:
        """Give the page a size, and say whether its user prefers dark pages."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=wide,
            height=high,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path) -> None:
        """Photograph the whole page into a PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def key(self, name: str, code: str = "", *, text: str = "", held: int = 0) -> None:
        """Press a key; `held`: 2 for Ctrl, 8 for Shift."""
        given = {"key": name, "code": code or name, "modifiers": held}
        given |= {"windowsVirtualKeyCode": _CODES.get(name, 0)}
        down = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=down, text=text, **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def type(self, text: str) -> None:
        """Type a text, letter by letter."""
        for letter in text:
            self.key(letter, text=letter)


_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38}
_CODES |= {"ArrowRight": 39, "ArrowDown": 40}
