"""The page that is served while tuning: on this machine alone, with its token, and up to date."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from chromium import chromium, needs_chromium

from kerneltune.errors import InputError
from kerneltune.pipeline.run import Progress
from kerneltune.pipeline.trial import Trial
from kerneltune.reporting.serving import LivePage, served


def trials(count: int) -> list[Trial]:
    return [Trial({"x": i, "y": i % 3}, {"time": 1.0 + i}, device="pretended") for i in range(count)]


def tell(page: LivePage, count: int) -> None:
    found = trials(count)
    page.notice(found[-1], Progress(found))


def asked(address: str, path: str | None = None, **headers: str) -> tuple[int, str]:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port or 0, timeout=10)
    try:
        connection.request("GET", parts.path if path is None else path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_page_follows_the_run() -> None:
    page = LivePage("matmul", {"m": 512})
    with served(page) as address:
        status, text = asked(address)
        assert (status, "No configuration has passed yet" in text) == (200, True)
        tell(page, 3)
        assert json.loads(asked(address + "state")[1]) == {"trials": 3}
        status, text = asked(address)
        assert status == 200
        assert '"title":"matmul on pretended, m=512"' in text
        assert "state.trials !== 3" in text
        assert text.rstrip().endswith("</html>")
    with pytest.raises(OSError, match="refused"):
        asked(address)


def test_only_this_machine_with_the_token_is_answered() -> None:
    with served(LivePage("matmul", {})) as address:
        parts = urlsplit(address)
        assert parts.hostname == "127.0.0.1"
        token = parts.path.strip("/")
        assert len(token) >= 32
        for path in (
            "/",
            "/state",
            f"/{token[:-1]}/",
            f"/{token}x/",
            f"/{token}/other",
            "/%00/",
            "/../" + token,
        ):
            assert asked(address, path)[0] == 404
        for host in ("example.org", f"example.org:{parts.port}", "127.0.0.1:1"):
            assert asked(address, Host=host)[0] == 404
        assert asked(address, Host=f"localhost:{parts.port}")[0] == 200
        connection = HTTPConnection("127.0.0.1", parts.port or 0, timeout=10)
        connection.request("POST", parts.path)
        assert connection.getresponse().status == 501
        connection.close()
    with served(LivePage("matmul", {})) as other:
        assert urlsplit(other).path != parts.path


def test_a_port_in_use_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with (
            pytest.raises(InputError, match="cannot be served on port"),
            served(LivePage("k", {}), taken.getsockname()[1]),
        ):
            pass


@needs_chromium
def test_a_browser_shows_new_trials_by_itself() -> None:
    page = LivePage("matmul", {"m": 512})
    tell(page, 20)
    with served(page) as address, chromium() as browser:
        browser.call("Page.navigate", url=address)
        shown = "document.querySelectorAll('#convergence circle').length"
        browser.until(f"{shown} === 20")
        tell(page, 25)
        browser.until(f"{shown} === 25")
        foreign = [one for one in browser.problems if address not in one and "favicon" not in one]
        assert foreign == []


def test_the_command_says_where_the_page_is(tmp_path: Path) -> None:
    (tmp_path / "kernel.yaml").write_text(
        "name: waiting\nkind: callable\nsource: kernel.py\nentry: waiting\ntune_params: {step: [0, 1, 2]}\n"
    )
    (tmp_path / "kernel.py").write_text("def waiting(step):\n    return sum(range(1000 * step))\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "kerneltune.cli",
            "tune",
            tmp_path,
            "--serve",
            "--json",
            "--store",
            tmp_path / "s",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"the report: http://127\.0\.0\.1:\d+/[\w-]{32}/", done.stderr)
    assert json.loads(done.stdout)["status"] == "passed"
