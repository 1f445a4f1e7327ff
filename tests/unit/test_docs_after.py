"""What the page about life after the release says runs as it stands."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from covey.cli.main import cli
from randomness import same_randomness

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "after-the-release.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_page_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = rng.choice([[-74.03, 40.76], [-73.97, 40.78], [-74.0, 40.84]], 3000) + rng.normal(0, 0.01, (3000, 2))
    np.savetxt("trips.csv", rows, delimiter=",", header="lon,lat", comments="", fmt="%.5f")
    commands = [*blocks("sh")[0].splitlines(), *re.findall(r"^    (covey .*)", PAGE, flags=re.MULTILINE)]
    assert len(commands) == 6
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "covey"
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
    assert len(json.loads(Path("after.geojson").read_text())["features"]) == 6
    assert {"map.png", "report.html", "after.gpkg", "after.csv", "assigned.csv"} <= {
        each.name for each in Path().iterdir()
    }


def test_the_example_in_python_runs_as_it_stands(monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    found: dict[str, object] = {}
    with pytest.warns(UserWarning, match="ledger"), same_randomness(1):  # what it prints is judged
        exec(blocks("python")[0], found)
    printed = capsys.readouterr().out
    assert re.search(r"A row is 1\.\d+ km \(1\.\d+ to 1\.\d+; 9 times in 10\) from its centre on average\.", printed)
    assert set(found["labels"].tolist()) == {0, 1, 2, 3}
