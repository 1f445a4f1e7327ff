"""What the pages say about coresets runs as it stands."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from covey import Coreset, Release
from covey.published.coreset.files import CoresetDocument
from covey.published.release import WeightedPoints

ROOT = Path(__file__).parents[2]


def blocks(name: str, language: str) -> list[str]:
    page = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def test_the_guide_runs_from_the_first_line_to_the_last(tmp_path):
    script = "\n".join(blocks("docs/guide/coresets.md", "python"))
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"Coreset\(\d+ points in 2 columns, epsilon=1\)", lines[0])
    assert "(1000,)" in lines
    assert any(re.match(r"in the park \d+ -?[\d.]+ False site 0 inside the forbidden region", line) for line in lines)
    points, epsilon = lines[-4].split()
    assert int(points) <= 500
    assert float(epsilon) == 2.5
    for said, printed in zip((1.35, 0.35, 0.15), lines[-3:], strict=True):
        assert float(printed) == pytest.approx(said, abs=0.005)


def test_the_commands_of_the_guide_run(tmp_path):
    [commands] = blocks("docs/guide/coresets.md", "sh")
    assert "covey coreset" in commands
    assert "covey query" in commands
    rows = np.random.default_rng(1).normal([-74.0, 40.8], [0.03, 0.03], size=(20_000, 2))
    np.savetxt(tmp_path / "trips.csv", rows, delimiter=",", header="lon,lat", comments="")
    binary = tmp_path / "bin"
    binary.mkdir()
    (binary / "covey").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m covey.cli.main "$@"\n')
    (binary / "covey").chmod(0o755)
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{binary}:{os.environ['PATH']}"},
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert len(Release.load(tmp_path / "medians.json").centres) == 5
    assert (tmp_path / "points.png").exists()
    assert Coreset.load(tmp_path / "coreset.parquet").total == pytest.approx(20_000, rel=0.05)


def test_files_are_read_without_covey_as_the_page_says(tmp_path):
    made = Coreset.stream([made_up()], 5)
    made.save(tmp_path / "coreset.json")
    made.save(tmp_path / "coreset.parquet")
    snippets = [each for each in blocks("docs/reference/release-format.md", "python") if "coreset" in each]
    assert len(snippets) == 2
    for snippet in snippets:
        assert "covey import" not in snippet
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, timeout=280
            )
            if done.returncode >= 0:  # on a busy machine pyarrow's own threads may abort a process that is ending
                break
        assert done.returncode == 0, done.stderr
    assert "differentially private" in done.stdout


def made_up() -> Coreset:
    release = json.loads(blocks("docs/reference/release-format.md", "json")[0])
    release["coreset"] = {"points": [[-74.0, 40.8], [-73.95, 40.75]], "weights": [12.5, -3.0], "cells": None}
    return Coreset.of(Release.from_json(json.dumps(release).encode()))


def test_every_field_of_a_coreset_file_is_described():
    page = (ROOT / "docs/reference/release-format.md").read_text(encoding="utf-8")
    fields = [field.encode_name for kind in (CoresetDocument, WeightedPoints) for field in msgspec.structs.fields(kind)]
    assert [field for field in fields if f"`{field}`" not in page] == []


def test_every_public_method_of_a_coreset_is_in_the_guide():
    page = (ROOT / "docs/guide/coresets.md").read_text(encoding="utf-8")
    methods = [name for name, body in vars(Coreset).items() if not name.startswith("_") and callable(body)]
    assert [name for name in methods if not re.search(rf"\b{name}\b", page)] == []
