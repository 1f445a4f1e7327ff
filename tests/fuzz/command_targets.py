"""The command line with arguments that nobody would give, on good files and bad ones."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from clean import OUTCOMES, Target, clean, leaks
from data_targets import data_files
from document_targets import good
from hypothesis import strategies as st

from canary import TEXT
from covey import Ledger
from covey.cli.main import cli, main

FILES = ["rows.csv", "rows.parquet", "release.json", "coreset.json", "coreset.parquet", "sites.csv", "area.geojson"]
FILES += ["city.ledger", "missing.csv", ".", "levels.json", "map.geojson", "*.csv", "new.json", "new.parquet"]
words = st.text(max_size=10).map(
    lambda text: text.replace("/", "_").replace("\0", "_").encode(errors="replace").decode()
)
some_numbers = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(["0", "1", "0.5", "1e-9", "1e9", "nan", "inf", "-1", "1e400", "9" * 50, "0x10", "1_0", "", " 1"]),
    st.floats().map(str),
)
ranges = st.one_of(
    st.sampled_from(["-1:1,-1:1", "x=-1:1,y=-1:1", "lon=-1:1,lat=-1:1", "0:1", "x=1:0", ":", "x=", "=1:2", "note=0:1"]),
    st.tuples(words, some_numbers, some_numbers).map(lambda each: f"{each[0]}={each[1]}:{each[2]}"),
    st.tuples(some_numbers, some_numbers).map(":".join),
    words,
)
files = st.sampled_from(FILES)
settings = st.one_of(
    st.tuples(st.sampled_from(["rounds", "depth", "k", "starts", "sites", "keep_synopsis", "x"]), some_numbers).map(
        "=".join
    ),
    words,
)
VALUES = {
    **dict.fromkeys(["-k", "--epsilon", "--delta", "--ball", "--seed", "--reduce", "--n", "-d"], some_numbers),
    **dict.fromkeys(["--rate", "--group", "--rows-per-person"], some_numbers),
    "--bounds": ranges,
    "--algorithm": st.one_of(st.sampled_from(["auto", "lloyd", "grid", "hybrid", "sites", "blocks"]), words),
    "--method": st.one_of(st.sampled_from(["auto", "grid", "net", "ball", "exact"]), words),
    "--objective": st.one_of(st.sampled_from(["k-means", "k-median"]), words),
    "--neighbours": st.one_of(st.sampled_from(["add-remove", "replace-one"]), words),
    "--sample": st.one_of(some_numbers, st.just("auto"), words),
    "--param": settings,
    **dict.fromkeys(["--ledger", "--out", "--geojson", "--centers", "--allowed", "--forbidden", "--zones"], files),
    "--anchor": files,
    **dict.fromkeys(
        ["--dataset", "--key", "--lon", "--lat", "--person"], st.one_of(words, st.sampled_from(["x", "y"]))
    ),
}
FLAGS = ["--json", "--quiet", "--allow-seeded", "--help", "--version", "-h", "--", "-", "--plot"]
COMMANDS = [
    *(["fit"], ["coreset"], ["query"], ["plan"], ["group"], ["algorithms"], ["ledger"], []),
    *(["ledger", "init"], ["ledger", "show"], ["ledger", "verify"]),
]
USUAL = {
    "fit": ["rows.csv", "-k", "2", "--epsilon", "1", "--bounds", "x=-1:1,y=-1:1", "--algorithm", "lloyd"],
    "coreset": ["rows.csv", "--epsilon", "1", "--bounds", "x=-1:1,y=-1:1", "--method", "grid", "--json"],
    "query": ["coreset.json", "--centers", "sites.csv"],
    "plan": ["--n", "1e5", "-d", "2", "-k", "5", "--epsilon", "1"],
    "group": ["--epsilon", "0.5", "--rate", "0.01", "--group", "100"],
    "ledger show": ["city.ledger"],
    "ledger verify": ["city.ledger"],
    "ledger init": ["new.ledger", "--dataset", "x", "--epsilon", "3"],
}


def option(name: str) -> st.SearchStrategy[list[str]]:
    """An option with a value of the kind it wants, if it is one that takes a value."""
    return VALUES[name].map(lambda value: [name, value]) if name in VALUES else st.just([name])


def own(command: list[str]) -> list[str]:
    """The options of a command, as it declares them."""
    found: Any = cli
    for word in command:
        found = found.commands[word]
    return sorted(
        name for each in found.params for name in each.opts if name in VALUES or getattr(each, "is_flag", False)
    )


anything = st.one_of(
    st.sampled_from(sorted(VALUES)).flatmap(option),
    st.sampled_from([*FLAGS, *FILES, *sorted(VALUES)]).map(lambda word: [word]),
    words.map(lambda word: [word]),
)


@st.composite
def commands(draw: Any) -> list[str]:
    """A command, often with what it needs, and up to four more arguments, most of them options that it has."""
    command = draw(st.sampled_from(COMMANDS))
    usual = USUAL.get(" ".join(command), []) if draw(st.integers(0, 4)) else []
    fitting = st.sampled_from(own(command) or ["--help"]).flatmap(option)
    more = draw(st.lists(st.one_of(fitting, fitting, fitting, anything), max_size=4))
    return [*command, *usual, *(word for each in more for word in each)]


def lay_out(folder: Path) -> None:
    """Good files for the arguments to name. Whatever an earlier command wrote over is put back."""
    contents = {
        "rows.csv": data_files()[".csv"],
        "rows.parquet": data_files()[".parquet"],
        "release.json": good()["release"],
        "coreset.json": good()["coreset"],
        "coreset.parquet": good()["parquet"],
        "levels.json": good()["levels"],
        "sites.csv": good()["table"],
        "area.geojson": good()["area"],
        "map.geojson": good()["map"],
    }
    for name, content in contents.items():
        if not (folder / name).is_file() or (folder / name).stat().st_size != len(content):
            (folder / name).write_bytes(content)
    try:
        Ledger.open(folder / "city.ledger")
    except Exception:
        for left in folder.glob("city.ledger*"):
            left.unlink()
        Ledger.create(folder / "city.ledger", dataset="x", epsilon=1000)


def run(arguments: list[str]) -> tuple[int, str, str]:
    """A command in this process: exit code, output, errors."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.object(sys, "warnoptions", ["x"]):
        try:
            main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    out.flush()
    return code, out.buffer.getvalue().decode(errors="replace"), err.getvalue()  # type: ignore[attr-defined]


def a_command(arguments: list[str], folder: Path) -> None:
    lay_out(folder)
    for new in folder.glob("new.*"):
        new.unlink()
    back = os.getcwd()
    os.chdir(folder)
    try:
        with clean():
            code, out, err = run(arguments)
    finally:
        os.chdir(back)
    OUTCOMES.subtract({"accepted": code == 2, "refused": -(code == 2)})
    assert code in (0, 2), (code, err)
    assert "Traceback" not in out + err
    assert code == 0 or (err.startswith("covey: error: ") and err.count("\n") == 1), err
    if not any(TEXT in each for each in arguments):
        assert leaks(out + err) == []


TARGETS = {"command lines": Target(commands(), a_command, ["fit", *USUAL["fit"]], weight=4)}
