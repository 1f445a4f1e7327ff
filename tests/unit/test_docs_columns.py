"""docs/guide/columns.md: its example runs, and its command is one."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from covey.cli.main import cli

PAGE = (Path(__file__).parents[2] / "docs/guide/columns.md").read_text()


def test_the_guide_runs_and_its_command_says_what_became_of_missing_values(tmp_path, monkeypatch):
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    known: dict = {}
    exec(example, known)
    assert known["model"].release_.certificate.domain["scale"] == pytest.approx([0.756995, 1.0, 0.5])
    monkeypatch.chdir(tmp_path)
    known["people"].to_csv("people.csv", index=False)
    command, clock = re.findall(r"^    covey (fit .*)$", PAGE, flags=re.MULTILINE)
    told = CliRunner().invoke(cli, shlex.split(command))
    assert told.exit_code == 0, told.output
    words = " ".join(told.output.split())
    assert "Rows with a missing value were left out. Longitude and latitude count in equal metres." in words
    pd.DataFrame(
        {"lon": [-74.0] * 200, "lat": [40.8] * 200, "when": ["2024-05-01T08:15", "2024-05-02 17:30"] * 100}
    ).to_csv("trips.csv", index=False)
    hours = CliRunner().invoke(cli, shlex.split(clock))
    assert hours.exit_code == 0, hours.output
    assert "hour(when)" in hours.output
    plain = CliRunner().invoke(cli, [*shlex.split(command)[:-4], "--json"])
    assert '"missing"' not in plain.output
    wrong = CliRunner().invoke(cli, [*shlex.split(command), "--force", "--neighbours", "replace-one"])
    assert wrong.exit_code != 0
    assert str(wrong.exception).startswith("missing: 'drop' changes how many rows")
