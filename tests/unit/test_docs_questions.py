"""docs/guide/four-questions.md: its example runs, and its commands are such."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from covey.cli.main import cli
from randomness import same_randomness

PAGE = (Path(__file__).parents[2] / "docs/guide/four-questions.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::covey.PrivacyWarning")
def test_the_example_and_the_commands_of_the_page_run_as_they_stand(tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    (example,) = [block for block in blocks if "profile(" in block]  # the others: test_docs_bounds_and_k.py
    found: dict = {}
    with same_randomness(1):  # what stands out is judged
        exec(example, found)
    assert {each.column for each in found["profile"].standing_out} == {"mode", "age", "hour(when)"}
    assert found["scores"].explained()[1] > 0.8
    monkeypatch.chdir(tmp_path)
    found["trips"].to_csv("trips.csv", index=False)
    found["release"].save("release.json")
    [scored] = re.findall(r"^    covey (score .*)$", PAGE, flags=re.MULTILINE)
    [profiled] = re.findall(r"`covey (profile [^`]*)`", PAGE.replace("\n", " "))
    for command in ("score release.json", scored, profiled):
        done = CliRunner().invoke(cli, shlex.split(command))
        assert done.exit_code == 0, done.output
    assert "What is in 3 clusters" in done.output
