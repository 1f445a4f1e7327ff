"""What an extra would bring is named wherever it is missing: in one line, before any charge, never as a bug."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey import KMeans, Ledger, MissingError
from covey.cli.main import main
from covey.errors import EXTRAS, need

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
BOUNDS = ["--bounds", "lon=0:1,lat=0:1"]
FIT = ["-k", "2", "--epsilon", "1", *BOUNDS, "--ledger", "b.ledger", "--dataset", "d"]
MET = [  # an extra, and a command that needs it
    ("excel", ["columns", "sheet.xlsx"]),
    ("excel", ["fit", "sheet.xlsx", *FIT]),
    ("geo", ["fit", "layer.gpkg", *FIT]),
    ("geo", ["coreset", "shape.shp", *FIT, "--out", "c.json"]),
    ("plot", ["coreset", "rows.csv", *FIT, "--out", "c.json", "--plot", "c.png"]),
    ("plot", ["plan", "--n", "1e5", "-d", "2", "-k", "5", "--plot", "p.png"]),
    ("plot", ["group", "--epsilon", "0.5", "--rate", "0.01", "--group", "9", "--plot", "g.png"]),
    ("plot", ["audit", "--out", "audit"]),
    ("spark", ["fit", "rows.csv", *FIT, "--engine", "spark"]),
    ("studio", ["studio", "--demo"]),
    ("studio", ["studio", "rows.csv", *BOUNDS]),
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(np.full((9, 2), 0.5), columns=["lon", "lat"]).to_csv("rows.csv", index=False)
    for name in ("sheet.xlsx", "layer.gpkg", "shape.shp"):
        Path(name).write_bytes(b"never opened")
    Ledger.create("b.ledger", dataset="d", epsilon=1)
    return tmp_path


def hide(monkeypatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)


def test_the_table_of_extras_is_that_of_the_project():
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    named = {
        extra: tuple(re.split(r"[<>=]", each)[0].replace("-", "_") for each in packages)
        for extra, packages in extras.items()
        if extra not in ("test", "dev", "docs", "versions")
    }
    assert named == EXTRAS
    assert {extra for extra, _ in MET} == set(EXTRAS), "every extra is met below"


@pytest.mark.parametrize(("extra", "command"), MET)
def test_a_missing_library_is_one_line_that_says_how_to_install_it(place, monkeypatch, capsys, extra, command):
    for library in EXTRAS[extra]:
        with monkeypatch.context() as hidden:
            hide(hidden, library)
            with pytest.raises(SystemExit) as end:
                main(command)
        printed = capsys.readouterr()
        assert (end.value.code, printed.out) == (2, "")
        assert printed.err.count("\n") == 1
        assert f"needs {library.replace('_', '-')}, which is not installed: pip install 'covey[{extra}]'" in printed.err
    assert Ledger.open("b.ledger").datasets()["d"].spent.epsilon == 0
    assert {each.name for each in place.iterdir()} == {"rows.csv", "sheet.xlsx", "layer.gpkg", "shape.shp", "b.ledger"}


def test_in_python_it_is_an_import_error_before_the_charge(place, monkeypatch):
    hide(monkeypatch, "pyspark")
    with pytest.raises(ImportError, match=r"^engine: 'spark' needs pyspark") as error:
        KMeans(2, bounds=(0, 1), engine="spark", ledger="b.ledger", dataset="d").fit("rows.csv")
    assert isinstance(error.value, MissingError)
    assert Ledger.open("b.ledger").datasets()["d"].spent.epsilon == 0


def test_what_is_installed_is_not_asked_for():
    for extra in EXTRAS:
        need(extra, "nothing")


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "covey", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("covey, version ")
