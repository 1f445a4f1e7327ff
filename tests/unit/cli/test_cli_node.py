"""`covey studio --node`: a page in one file, without a server and without the studio's packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from covey.cli.main import cli
from covey.studio.node.page import make_page


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["studio", "--node", "--no-browser"]).exit_code == 0
    assert opened == []
    done = CliRunner().invoke(cli, ["studio", "--node", "--out", "node.html"])
    assert done.exit_code == 0
    assert "Wrote node.html" in done.output
    assert opened == [(tmp_path / "node.html").as_uri()]
    assert Path("node.html").read_bytes() == Path("covey-node.html").read_bytes() == make_page()


@pytest.mark.parametrize("other", ["trips.csv", "--demo", "--seed=3", "--port=8000", "--person=who"])
def test_what_belongs_to_the_studio_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(cli, ["studio", "--node", other])
    assert refused.exit_code == 2
    assert "leave the rest away" in refused.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    refused = CliRunner().invoke(cli, ["studio", "--node", "--no-browser", "--out", str(tmp_path / "none" / "a.html")])
    assert "no folder" in str(refused.exception)


def test_it_needs_neither_the_studios_packages_nor_numpy(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['fastapi'] = sys.modules['uvicorn'] = sys.modules['numpy'] = None\n"
        "from covey.cli.main import main; main(['studio', '--node', '--no-browser', '--out', sys.argv[1]])"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "node.html")], check=True, capture_output=True)
    assert (tmp_path / "node.html").read_bytes() == make_page()
