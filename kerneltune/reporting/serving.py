"""The report while a run goes on: a page of this machine alone, behind a token."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kerneltune.errors import InputError
from kerneltune.pipeline.run import Progress
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.reporting.page import Roof, page_of
from kerneltune.reporting.summary import TunedSummary

LOOPBACK = "127.0.0.1"
TOKEN_BYTES = 24
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
WAITING = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tuning</title></head>
<body><main><h1>Tuning</h1><p role="status">No configuration has passed yet.</p></main>
"""
# Loads the page again when there are more trials.
FOLLOWING = """<script>
setInterval(async () => {
  try {
    const state = await (await fetch("state")).json();
    if (state.trials !== COUNT) location.reload();
  } catch { /* the run has ended */ }
}, 2000);
</script></body></html>
"""


class LivePage:
    """The trials of a run so far, as a page.

    Args:
        kernel: The kernel's name.
        sizes: Its sizes.
        objective: What counts.
        roof: What the device can do at most.
    """

    def __init__(
        self, kernel: str, sizes: dict[str, int], objective: str = TIME, roof: Roof | None = None
    ) -> None:
        self._kernel, self._sizes, self._objective, self._roof = kernel, sizes, objective, roof
        self._trials: tuple[Trial, ...] = ()
        self._made: tuple[int, str] | None = None
        self._lock = threading.Lock()

    def notice(self, trial: Trial, progress: Progress) -> None:
        """Take the trials of a run."""
        self._trials = tuple(progress.trials)

    def state(self) -> str:
        """The number of trials, as JSON."""
        return json.dumps({"trials": len(self._trials)})

    def text(self) -> str:
        """The page."""
        trials = self._trials
        with self._lock:
            if self._made is None or self._made[0] != len(trials):
                self._made = len(trials), self._page(trials)
            return self._made[1]

    def _page(self, trials: tuple[Trial, ...]) -> str:
        device = next((one.device for one in trials if one.device), "this machine")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        summary = TunedSummary(self._kernel, device, self._sizes, 1, trials, now)
        try:
            page = page_of(summary, self._objective, self._roof)
        except InputError:
            page = WAITING
        return page.replace("</body>\n</html>", "") + FOLLOWING.replace("COUNT", str(len(trials)))


@contextmanager
def served(page: LivePage, port: int = 0) -> Iterator[str]:
    """Serve a page on the loopback interface; gives its address, which has the token.

    Args:
        page: The page.
        port: The port; 0: any that is free.

    Raises:
        InputError: The port is in use.
    """
    token = secrets.token_urlsafe(TOKEN_BYTES)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer with the page or its state; anything else is not found."""
            own = server.server_port
            first, _, rest = self.path.removeprefix("/").partition("/")
            known = secrets.compare_digest(first.encode(), token.encode())
            # A page of another site may ask under a name of its own that leads to this machine.
            is_here = self.headers.get("Host", "") in (f"{LOOPBACK}:{own}", f"localhost:{own}")
            if known and is_here and rest == "":
                self._say(page.text(), "text/html; charset=utf-8")
            elif known and is_here and rest == "state":
                self._say(page.state(), "application/json")
            else:
                self.send_error(HTTPStatus.NOT_FOUND)

        def _say(self, text: str, kind: str) -> None:
            data = text.encode()
            self.send_response(HTTPStatus.OK)
            for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the terminal has the run."""

    try:
        server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        raise InputError(f"the page cannot be served on port {port}: {error}") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="kerneltune-page", daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}/{token}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
