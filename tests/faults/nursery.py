"""A process that has Covey loaded and forks a child for every request: a command line run on a disk that fails.

Run by `children.py`, under LD_PRELOAD of failing.c. One JSON object a line comes in, one goes out. A child costs some
milliseconds instead of the second that importing takes, so hundreds of crashes fit into a test.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import io
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import covey
import covey.cli.main
from covey.budget.ledger import anchor, store

PATIENCE = 120.0


def watch_rows(tell: Callable[[], None]) -> None:
    """Have every table behind the door tell when the first of its rows is asked for."""

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def pieces(*arguments: Any) -> Any:
            tell()
            yield from real(*arguments)

        return pieces

    found = 0
    for name, module in list(sys.modules.items()):
        if name.startswith("covey.private"):
            for kind in list(vars(module).values()):
                if isinstance(kind, type) and kind.__module__ == name and not getattr(kind, "_is_protocol", False):
                    for method in ("pieces", "chosen"):
                        if method in vars(kind):
                            setattr(kind, method, watched(vars(kind)[method]))
                            found += 1
    assert found >= 4, "the tables were not found"


def child(request: dict[str, Any], told: int) -> None:
    """The life of a child: arm the disk, run the command, say how many calls it made."""
    disk = ctypes.CDLL(None)
    interrupts_wait()
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    os.chdir(request["folder"])
    watch_rows(lambda: os.write(told, b"rows\n"))
    store._BUSY_SECONDS = anchor._BUSY_SECONDS = request.get("busy", 60.0)
    if "limit" in request:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["limit"], resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    disk.covey_clock(ctypes.c_long(request.get("clock", 0)))
    where = os.path.realpath(request["folder"]).encode()
    disk.covey_arm(where, ctypes.c_long(request.get("at", 0)), request.get("error", 0), request.get("sticky", 0))
    os.write(told, b"ready\n")
    code = run(request["arguments"])
    disk.covey_arm(b"", ctypes.c_long(0), 0, 0)
    os.write(told, f"calls {disk.covey_counted()}\n".encode())
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def interrupts_wait() -> None:
    """Hold SIGINT back until a command has begun: before that, nobody is there to catch it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    real = covey.cli.main.cli.make_context

    def begun(*arguments: Any, **more: Any) -> Any:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return real(*arguments, **more)

    covey.cli.main.cli.make_context = begun  # type: ignore[method-assign]


def run(arguments: list[str]) -> int:
    """The exit code of a command. An interrupt that comes when it has ended changes nothing; one that escapes is 70."""
    code = None
    try:
        try:
            publish(arguments) if arguments[0] == "publish" else covey.cli.main.main(arguments)
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BaseException as error:
        if code is None or not isinstance(error, KeyboardInterrupt):
            code = 70
            os.write(2, f"ESCAPED {type(error).__name__}\n".encode())
    return code


def publish(arguments: list[str]) -> None:
    """What the studio does when somebody looks and then publishes, without its web server; ends like a command."""
    from covey.studio.settings import Settings
    from covey.studio.studio import Studio

    key = arguments[arguments.index("--key") + 1] if "--key" in arguments else None
    studio = None
    try:
        ledger = covey.Ledger.open("city.ledger")
        given = {
            "data": Path("rows.csv"),
            "bounds": covey.Box(x=(-1, 1), y=(-1, 1)),
            "name": "rows",
            "dataset": "trips",
        }
        studio = Studio(Settings(**given, ledger=ledger, key=key, out=Path("published")))
        job = studio.job(studio.look(2.0)["id"])
        job.wait()
        if job.describe()["error"] is not None:
            raise covey.CoveyError(str(job.describe()["error"]))
        studio.publish((1, 3, "k-means", True), "monday")
    except covey.CoveyError as error:
        covey.cli.main.fail(str(error), code=2)
    except KeyboardInterrupt:
        covey.cli.main.fail("interrupted; what was charged stays charged", code=130)
    finally:
        if studio is not None:
            studio.close()
            shutil.rmtree(studio._folder, ignore_errors=True)


def serve(request: dict[str, Any]) -> dict[str, Any]:
    """Fork, wait (or send a signal after a while), and report what became of the child."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            child(request, writer)
        except BaseException as error:
            os.write(2, f"ESCAPED {error!r}\n".encode())
        finally:
            os._exit(71)
    os.close(writer)
    said, begin, deadline = b"", 0.0, time.monotonic() + PATIENCE
    strike = None
    while True:
        wait = min(x for x in (strike, deadline) if x is not None) - time.monotonic()
        if select.select([reader], [], [], max(0.0, wait))[0]:
            some = os.read(reader, 65536)
            if not some:
                break
            said += some
            if not begin and b"ready\n" in said:
                begin = time.monotonic()
                strike = begin + request["after"] if "after" in request else None
        elif strike is not None and time.monotonic() >= strike:
            os.kill(pid, request.get("signal", signal.SIGKILL))
            strike = None
        elif time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            said += b"hung\n"
            break
    os.close(reader)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    words = said.decode().split("\n")
    calls = [int(word.removeprefix("calls ")) for word in words if word.startswith("calls ")]
    return {
        "code": code,
        "rows": "rows" in words,
        "hung": "hung" in words,
        "calls": calls[0] if calls else None,
        "seconds": time.monotonic() - begin,
    }


def race(request: dict[str, Any]) -> dict[str, Any]:
    """Several children that do the same at the same time; their exit codes."""
    gate, opener = os.pipe()
    started = []
    for number in range(request["race"]):
        pid = os.fork()
        if pid == 0:
            os.close(opener)
            os.read(gate, 1)  # all begin when the gate is closed
            try:
                child({**request, "out": f"{request['out']}.{number}", "err": f"{request['err']}.{number}"}, os.dup(2))
            finally:
                os._exit(71)
        started.append(pid)
    os.close(gate)
    os.close(opener)
    return {"codes": [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in started]}


def warm_up() -> None:
    """Load what a command loads only when it needs it. No thread may be left: a fork would not have it."""
    with tempfile.TemporaryDirectory(prefix="covey-nursery-") as folder, contextlib.redirect_stdout(io.StringIO()):
        rows, ledger = f"{folder}/rows.csv", f"{folder}/city.ledger"
        Path(rows).write_text("x,y\n0,0\n1,1\n")
        anchor = f"{folder}/anchor"
        covey.cli.main.main(["ledger", "init", ledger, "--dataset", "d", "--epsilon", "9", "--anchor", anchor])
        shared = [rows, "-k", "2", "--epsilon", "1", "--bounds", "0:1,0:1", "--ledger", ledger, "--dataset", "d"]
        covey.cli.main.main(["fit", *shared, "--algorithm", "lloyd"])
        covey.cli.main.main(["coreset", *shared, "--method", "grid", "--out", f"{folder}/coreset.parquet"])
    importlib.import_module("covey.studio.studio")
    assert threading.active_count() == 1


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it would be ignored
    warm_up()
    for line in sys.stdin:
        request = json.loads(line)
        answer = race(request) if "race" in request else serve(request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
