"""Firefox, driven by its own protocol for automation (Marionette): JSON over a local socket, each with its length."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

FIREFOX = Path("/usr/bin/firefox-esr")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name by which WebDriver hands out elements
PATIENCE = 240.0  # seconds
PREFERENCES = (
    'user_pref("marionette.port", {port});',
    'user_pref("webgl.force-enabled", true);',
    'user_pref("datareporting.policy.dataSubmissionEnabled", false);',
    'user_pref("app.update.auto", false);',
    'user_pref("network.captive-portal-service.enabled", false);',
    'user_pref("network.connectivity-service.enabled", false);',
)


class Firefox:
    """One window. Scripts run beside the page, not in it: its policy forbids them nothing and allows them nothing."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._file, self._numbers = line, line.makefile("rb"), count(1)
        self._read()  # who it is
        self.ask("WebDriver:NewSession", capabilities={})

    def _read(self) -> Any:
        digits = b""
        while (sign := self._file.read(1)) != b":":
            assert sign, "Firefox has gone"
            digits += sign
        return json.loads(self._file.read(int(digits)))

    def ask(self, command: str, **given: Any) -> Any:
        message = json.dumps([0, next(self._numbers), command, given]).encode()
        self._line.sendall(b"%d:%b" % (len(message), message))
        _, _, error, answer = self._read()
        assert error is None, (command, error["error"], error["message"])
        return answer.get("value", answer) if isinstance(answer, dict) else answer

    def open(self, address: str) -> None:
        self.ask("WebDriver:Navigate", url=address)

    def run(self, script: str, *given: Any) -> Any:
        return self.ask("WebDriver:ExecuteScript", script=script, args=list(given))

    def until(self, script: str, *given: Any) -> Any:
        """Wait until a script's answer is something."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script, *given)):
            assert time.monotonic() < end, (script, self.text("body"))
            time.sleep(0.1)
        return found

    def find(self, selector: str) -> str:
        self.until("return document.querySelector(arguments[0]) !== null", selector)
        found: str = self.ask("WebDriver:FindElement", using="css selector", value=selector)[ELEMENT]
        return found

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def click(self, selector: str) -> None:
        self.until("return document.querySelector(arguments[0])?.offsetParent !== null", selector)
        self.ask("WebDriver:ElementClick", id=self.find(selector))

    def press(self, selector: str, keys: str) -> None:
        self.ask("WebDriver:ElementSendKeys", id=self.find(selector), text=keys)

    def drawn(self, **attributes: object) -> None:
        """Wait until the stage has drawn what the attributes say."""
        wanted = "".join(f'[data-{name}="{value}"]' for name, value in attributes.items())
        self.until("return document.querySelector(arguments[0]) !== null", f"#stage{wanted}")

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("WebDriver:TakeScreenshot", full=False))


@contextlib.contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A Firefox without a screen, with a new profile."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    profile.mkdir(exist_ok=True)
    (profile / "user.js").write_text("\n".join(PREFERENCES).format(port=port))
    command = [str(FIREFOX), "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + PATIENCE
            while True:
                with contextlib.suppress(ConnectionRefusedError):
                    line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
                    break
                assert process.poll() is None, "Firefox did not start"
                assert time.monotonic() < end, "Firefox does not listen"
                time.sleep(0.2)
            with line:
                yield Firefox(line)
        finally:
            process.terminate()
            process.wait(30)
