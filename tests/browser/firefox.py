"""Firefox, driven by its own protocol for automation (Marionette): JSON over a local socket, each with its length."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

FIREFOX, XVFB = Path("/usr/bin/firefox-esr"), Path("/usr/bin/Xvfb")
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

    def has_webgl(self) -> bool:
        return bool(self.run("return document.createElement('canvas').getContext('webgl2') !== null"))

    def drawn(self, **attributes: object) -> None:
        """Wait until the stage has drawn what the attributes say."""
        wanted = "".join(f'[data-{name}="{value}"]' for name, value in attributes.items())
        self.until("return document.querySelector(arguments[0]) !== null", f"#stage{wanted}")

    def click_at(self, selector: str, across: float, down: float) -> None:
        """Press the mouse at a place of an element, given in parts of its width and height."""
        x, y, width, height = self.run(
            "const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [x, y, width, height]",
            selector,
        )
        to = {"type": "pointerMove", "x": round(x + across * width), "y": round(y + down * height), "duration": 0}
        steps = [to, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.ask("WebDriver:PerformActions", actions=[{"type": "pointer", "id": "mouse", "actions": steps}])

    def errors(self) -> list[str]:
        """What scripts of pages have thrown or refused so far: the browser's own console keeps it."""
        self.ask("Marionette:SetContext", value="chrome")
        try:
            found: list[str] = self.run(
                "return Services.console.getMessageArray()"
                ".filter((each) => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))"
                ".filter((each) => /^(http|file):/.test(each.sourceName)).map(String)"
            )
        finally:
            self.ask("Marionette:SetContext", value="content")
        return found

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("WebDriver:TakeScreenshot", full=False))


@contextlib.contextmanager
def _screen() -> Iterator[dict[str, str] | None]:
    """The environment of a screen in memory, where one can be had: without a screen Firefox draws no map."""
    if not XVFB.exists():
        yield None
        return
    command = [str(XVFB), "-displayfd", "1", "-screen", "0", "1400x900x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            yield {**os.environ, "DISPLAY": f":{int(process.stdout.readline())}"}
        finally:
            process.terminate()
            process.wait(30)


@contextlib.contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A Firefox with a new profile, on a screen that nobody sees or on none."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    profile.mkdir(exist_ok=True)
    (profile / "user.js").write_text("\n".join(PREFERENCES).format(port=port))
    command = [str(FIREFOX), "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", str(profile)]
    with _screen() as screen:
        command += [] if screen else ["--headless"]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, env=screen, stdout=quiet, stderr=quiet) as process:
            try:
                with _connected(port, process) as line:
                    page = Firefox(line)
                    page.ask("WebDriver:SetWindowRect", x=0, y=0, width=1300, height=880)
                    yield page
            finally:
                process.terminate()
                process.wait(30)


def _connected(port: int, process: subprocess.Popen[bytes]) -> socket.socket:
    """A line to a browser that is starting."""
    end = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        assert process.poll() is None, "Firefox did not start"
        assert time.monotonic() < end, "Firefox does not listen"
        time.sleep(0.2)
