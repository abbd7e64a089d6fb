"""A headless Chromium that tests drive: real clicks, drags and keys, screenshots, and what the page logs.

The browser speaks its DevTools protocol over two pipes: no port is opened, and no driver is needed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60
LAUNCH = (
    "import os, sys; [os.dup2(int(sys.argv[i]), i + 2) for i in (1, 2)]; os.execv(sys.argv[3], sys.argv[3:])"
)
KEYS = {
    " ": (32, " "),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    "End": (35, ""),
}


def program() -> str | None:
    """The browser's program, if this machine has one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def _missing() -> str | None:
    if program() is None:
        return "no chromium: apt-get install chromium"
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return "the address space is limited (ulimit -v), and Chromium reserves terabytes of it"
    return None


needs_chromium = pytest.mark.skipif(_missing() is not None, reason=str(_missing()))


class Browser:
    """One tab of a headless browser.

    Attributes:
        problems: Errors and refused requests that pages have logged.
    """

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process, self._write, self._read = process, write, read
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self, end: float) -> Any:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has ended"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, facts: Any) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(
                facts["exceptionDetails"].get("exception", {}).get("description", "exception")
            )
        elif method == "Log.entryAdded" and facts["entry"]["level"] == "error":
            self.problems.append(f"{facts['entry']['text']} {facts['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            url = facts["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.problems.append(f"request to {url}")

    def open(self, path: Path, width: int = 1400, height: int = 900, *, dark: bool = False) -> None:
        """Show a file at a size of the window, and wait until it is loaded."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.until("document.readyState === 'complete'")

    def value(self, script: str) -> Any:
        """The value of a JavaScript expression, as JSON has it; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + SECONDS
        while not self.value(f"Boolean({script})"):
            assert time.monotonic() < end, f"never true: {script}; {self.problems}"
            time.sleep(0.01)

    def _mouse(self, kind: str, place: tuple[float, float], *, held: bool) -> None:
        button = {"button": "left", "buttons": 1, "clickCount": 1} if held else {}
        self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **button)

    def middle(self, element: str) -> tuple[float, float]:
        """The middle of an element, given as a JavaScript expression, after scrolling to it."""
        x, y = self.value(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        return x, y

    def hover(self, place: tuple[float, float]) -> None:
        """Move the mouse."""
        self._mouse("mouseMoved", place, held=False)

    def click(self, element: str) -> None:
        """Click the middle of an element."""
        self.drag(self.middle(element))

    def drag(self, *places: tuple[float, float]) -> None:
        """Press the button at the first place, move over the others, and let go at the last."""
        self.hover(places[0])
        self._mouse("mousePressed", places[0], held=True)
        for place in places[1:]:
            self._mouse("mouseMoved", place, held=True)
        self._mouse("mouseReleased", places[-1], held=True)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key."""
        code, text = KEYS[key]
        facts = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **facts)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own profile, ended with the block."""
    found = program()
    assert found is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser[0], from_browser[1])]
    # The browser's last processes may still write to it when it is removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *map(str, ends), found, *options, "about:blank"],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_browser[0], from_browser[1], *ends):
            os.close(end)
        try:
            yield Browser(process, to_browser[1], from_browser[0])
        finally:
            os.close(to_browser[1])
            os.close(from_browser[0])
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
