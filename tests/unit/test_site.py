"""The site: every page has a place and every link leads somewhere, and what is built needs no network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import covey

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


def sources(folder: Path) -> Path:
    """What Sphinx reads of the project, in a folder where it may write."""
    for name in ("docs", "examples", "benchmarks", "src"):
        left = ("*.py", "assets", "page", "__pycache__") if name == "src" else ("*.jsonl", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*left))
    for path in (*ROOT.glob("*.md"), ROOT / "LICENSE", ROOT / "CITATION.cff"):
        shutil.copy(path, folder)
    return folder


def build(folder: Path, kind: str, *options: str) -> str:
    """What Sphinx complains of; what examples and their libraries print is no complaint."""
    told = folder / "warnings.txt"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-w", str(told), "-b", kind, "-c", str(SITE)]
    done = subprocess.run(
        [*command, *options, str(folder), str(folder / "site")], capture_output=True, text=True, timeout=1500
    )
    return told.read_text(encoding="utf-8") + ("" if done.returncode == 0 else done.stdout + done.stderr + "refused")


def test_every_page_has_a_place_and_every_link_leads_somewhere(tmp_path):
    assert build(sources(tmp_path), "dummy", "-D", "plot_gallery=0") == ""


def test_every_public_name_is_in_the_reference():
    page = (SITE / "api.rst").read_text()
    listed = set(re.findall(r"^\.\. auto(?:class|function|exception):: covey\.(\w+)$", page, flags=re.MULTILINE))
    assert listed == set(covey.__all__)


REMOTE = (
    r"<(?:script|img|source|iframe|video|audio)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\s\"'>]+",
    r"<link\b[^>]*\brel=[\"']?(?:stylesheet|icon|preload|preconnect|modulepreload)\b[^>]*\bhref=[\"']?(?:https?:)?//[^\s\"'>]+",
    r"<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^\s\"'>]+[^>]*\brel=[\"']?(?:stylesheet|icon|preload|preconnect)\b",
    r"@import\s+(?:url\()?[\"']?(?:https?:)?//[^\s\"')]+",
    r"url\([\"']?(?:https?:)?//[^\s\"')]+",
)


def from_elsewhere(text: str) -> list[str]:
    """What a browser would fetch from another machine to show this."""
    return [found for pattern in REMOTE for found in re.findall(pattern, text)]


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/mathjax.js"></script>',
        '<img alt="" src="//cdn.example/a.png">',
        '<link rel="stylesheet" href="https://fonts.example/css" />',
        "@font-face { src: url(https://fonts.example/a.woff2) }",
        '@import "https://fonts.example/css";',
    ],
)
def test_what_comes_from_elsewhere_is_found(text):
    assert from_elsewhere(text)


def test_links_that_a_person_follows_are_no_fetch():
    assert from_elsewhere('<a href="https://www.rfc-editor.org/rfc/rfc4180">RFC</a> <img src="_images/map.png">') == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_built_site_needs_no_network(tmp_path):
    assert build(sources(tmp_path), "html") == ""
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 80
    assert (tmp_path / "site" / "searchindex.js").exists()
    for path in (*pages, *(tmp_path / "site").rglob("*.css")):
        assert from_elsewhere(path.read_text(encoding="utf-8")) == [], path.name
    assert "<math" in (tmp_path / "site" / "docs" / "site" / "index.html").read_text(encoding="utf-8")
