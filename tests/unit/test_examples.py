"""The examples of the gallery run as they stand, and draw what they say."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
LAPTOP = [path for path in EXAMPLES if "spark" not in path.stem]


@pytest.fixture(autouse=True)
def _shown():
    plt.close("all")
    yield
    plt.close("all")


def run(path: Path, monkeypatch) -> dict:
    monkeypatch.setattr(plt, "show", lambda: None)
    found = runpy.run_path(str(path))
    assert plt.get_fignums()
    return found


def test_there_are_six_with_a_title_and_in_order():
    assert [path.stem[:2] for path in EXAMPLES] == [f"{i:02}" for i in range(1, len(EXAMPLES) + 1)]
    assert len(EXAMPLES) >= 6
    for path in EXAMPLES:
        title, rule = path.read_text().splitlines()[1:3]
        assert rule == "=" * len(title)
        assert len(path.read_text().splitlines()) < 100


@pytest.mark.parametrize("path", LAPTOP, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("error::covey.PrivacyWarning:__main__")
def test_an_example_runs_and_draws(path, monkeypatch):
    run(path, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_example_of_spark_finds_the_same_on_every_engine(monkeypatch):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    [path] = [path for path in EXAMPLES if "spark" in path.stem]
    found = run(path, monkeypatch)["found"]
    assert set(found) == {"memory", "files", "Spark"}
    assert len({str(release.centres) for release in found.values()}) == 1


def block(language: str) -> str:
    """The code of a language in the example that reads a release without Covey."""
    [path] = [path for path in EXAMPLES if "without" in path.stem]
    found = re.search(rf"code-block:: {language}\n#\n((?:#    .*\n|#\n)+)", path.read_text())
    assert found is not None
    return re.sub(r"^# {0,4}", "", found.group(1), flags=re.MULTILINE)


def released(folder: Path) -> None:
    document = {"columns": ["lon", "lat"], "centres": [[-74.0, 40.8]], "sizes": [12.4], "statement": "none"}
    (folder / "release.json").write_text(json.dumps(document))


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_javascript_reads_a_release(tmp_path):
    released(tmp_path)
    done = subprocess.run(["node", "-e", block("js")], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["{", "lon:", "-74,", "lat:", "40.8", "}", "12"], done.stderr


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_a_release(tmp_path):
    released(tmp_path)
    done = subprocess.run(["Rscript", "-e", block("r")], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "none" in done.stdout, done.stderr
