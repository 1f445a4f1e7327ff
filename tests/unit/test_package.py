"""The package: what is built carries all that it needs, says what it is, and runs in an empty environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import covey

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ASSETS = ROOT / "src" / "covey" / "studio" / "assets"
BOUNDS = ("--bounds", "lon=-74.1:-73.9,lat=40.7:40.9")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the source distribution, and with the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    [found] = built.glob("*.whl")
    return found


def files_of_the_package() -> set[str]:
    inside = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / "src").as_posix() for path in inside}


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == files_of_the_package()
    assert "covey/py.typed" in names
    assert "covey/studio/page/index.html" in names
    assert ("covey/studio/assets/versions.json" in names) == ASSETS.exists()


def test_the_source_distribution_builds_and_tells_the_story(built):
    [source] = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "PRIVACY.md", "docs/README.md"} <= names
    assert not [name for name in names if name.startswith((".venv", "site/", "demo-output"))]


def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(archive.read(metadata).decode())
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert told["Name"] == "covey"
    assert told["Version"] == covey.__version__
    assert set(told.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])


def test_no_address_leads_nowhere():
    """The project has no public home yet: an address that was made up is worse than none."""
    told = [ROOT / "pyproject.toml", ROOT / "CITATION.cff", ROOT / "README.md", ROOT / "SECURITY.md"]
    for path in (*told, *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "site").glob("*.*")):
        assert not re.search(r"https?://[\w.-]*\bexample\b", path.read_text(encoding="utf-8")), path.name


def test_versions_of_python_are_claimed_that_the_tests_ran_on():
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    ran = (ROOT / "docs" / "reference" / "versions.md").read_text()
    assert claimed
    assert [each for each in claimed if f"| Python | {each}." not in ran] == []


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {covey.__version__}\n" in citation


# --- in an empty environment ------------------------------------------------------------------------------------------


class Environment:
    """A new environment, into which the wheel is installed with more and more of its extras."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder / "env", with_pip=True)
        self.folder, self.wheel, self.bin = folder, wheel, folder / "env" / "bin"

    def install(self, *extras: str) -> None:
        what = f"{self.wheel}[{','.join(extras)}]" if extras else str(self.wheel)
        self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)

    def run(self, program: str, *arguments: str, code: int = 0) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [str(self.bin / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, env=clean, capture_output=True, text=True, timeout=900)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def covey(self, *arguments: str, code: int = 0) -> str:
        return self.run("covey", *arguments, code=code)


def fit(environment: Environment, data: str, *more: str, code: int = 0) -> str:
    return environment.covey("fit", data, "-k", "2", "--epsilon", "1", *BOUNDS, *more, code=code)


def workbook(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in [("lon", "lat"), *[(-74.0 + i / 1000, 40.8) for i in range(50)]]:
        book.active.append(row)
    book.save(path)


def geopackage(path: Path) -> None:
    import geopandas

    places = geopandas.points_from_xy([-74.0 + i / 1000 for i in range(50)], [40.8] * 50)
    geopandas.GeoDataFrame(geometry=places, crs=4326).to_file(path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_wheel_runs_in_an_empty_environment_and_each_extra_brings_what_it_says(wheel, tmp_path):
    rows = ["lon,lat", *[f"{-74.0 + i / 1000},{40.8 + i / 1000}" for i in range(50)]]
    (tmp_path / "trips.csv").write_text("\n".join(rows) + "\n")
    pq.write_table(csv.read_csv(tmp_path / "trips.csv"), tmp_path / "trips.parquet")
    workbook(tmp_path / "trips.xlsx")
    geopackage(tmp_path / "trips.gpkg")
    environment = Environment(tmp_path, wheel)

    environment.install()
    assert covey.__version__ in environment.covey("--version")
    assert "covey[plot]" in environment.covey("demo")
    assert (tmp_path / "demo-output" / "release.json").exists()
    assert not (tmp_path / "demo-output" / "map.png").exists()
    assert "differentially private" in " ".join(fit(environment, "trips.csv").split())
    assert "privacy level" in environment.covey("studio", "--help")
    for extra, refused in {
        "studio": environment.covey("studio", "--demo", "--no-browser", code=2),
        "excel": fit(environment, "trips.xlsx", code=2),
        "geo": fit(environment, "trips.gpkg", code=2),
        "spark": fit(environment, "trips.csv", "--engine", "spark", code=2),
        "plot": environment.covey("plan", "--n", "1e4", "-d", "2", "-k", "3", "--plot", "plan.png", code=2),
    }.items():
        assert f"pip install 'covey[{extra}]'" in refused

    environment.install("plot")
    environment.covey("demo", "--out", "drawn")
    assert (tmp_path / "drawn" / "map.png").read_bytes().startswith(b"\x89PNG")

    environment.install("excel")
    fit(environment, "trips.xlsx")

    environment.install("geo")
    fit(environment, "trips.gpkg")

    environment.install("studio")
    served(environment)

    environment.install("spark")
    if subprocess.run(["which", "java"], capture_output=True).returncode == 0:
        fit(environment, "trips.parquet", "--engine", "spark", "--master", "local[1]")


def served(environment: Environment) -> None:
    """The studio answers, with its page and the map library where the wheel has it."""
    import json
    import time
    from urllib.request import urlopen

    command = [str(environment.bin / "covey"), "studio", "--demo", "--no-browser"]
    with subprocess.Popen(command, cwd=environment.folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = (line for line in process.stdout if "For programs" in line)
            address = next(found.group() for line in lines if (found := re.search(r"http://\S+", line)))
            root = address.rstrip("/")
            for _ in range(600):
                try:
                    page = urlopen(address, timeout=30).read().decode()
                    break
                except OSError:
                    time.sleep(0.1)
            assert "<title>" in page
            if ASSETS.exists():
                versions = urlopen(f"{root}/assets/versions.json", timeout=30).read()
                assert json.loads(versions) == json.loads((ASSETS / "versions.json").read_text())
        finally:
            process.terminate()
