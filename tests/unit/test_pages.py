"""No number by hand: what pages show of results is what benchmarks/pages.py makes of them."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("pages_of_results", ROOT / "benchmarks" / "pages.py")
assert SPEC is not None
assert SPEC.loader is not None
pages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pages)

NAMES = [page.relative_to(ROOT).as_posix() for page in pages.pages()]
NUMBER = r"[*`<>~±+ ]*-?[\d.,]*\d[\d.,·^-]*( ?(%|s|ms|GiB|MiB|MB|KiB|x|times|min|h|hours|minutes|rows))?( ± [\d.]+)?\**"

RATE = math.expm1(0.1) / math.expm1(1)  # of a zone of 0.1 in a release of 1

DEFINITIONS = {  # tables whose numbers are choices, formulas or facts about a file, by page and heading
    ("docs/guide/accuracy.md", "The sets"),
    ("docs/guide/auto.md", "The budget"),
    ("docs/guide/choosing.md", "ε: how much one person can be noticed"),
    ("docs/guide/people.md", "How many rows should count?"),
    ("docs/guide/slider.md", "The slider: all privacy levels for the price of one"),
    ("docs/papers/aaai21.md", "Nguyen, Chaturvedi and Xu 2021, redone"),
    ("docs/papers/blocki21.md", "Blocki, Grigorescu and Mukherjee 2021, measured"),
    ("docs/papers/ipsn17.md", "Feldman, Xiang, Zhu and Rus 2017, redone"),
    ("docs/reference/cli.md", "The command line"),
}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_as_it_would_be_filled(name):
    assert pages.fill(text(name)) == text(name)


def test_every_view_is_on_a_page():
    shown = {found[1] for name in NAMES for found in pages.MARK.findall(text(name))}
    assert set(pages.VIEWS) <= shown
    assert {name for name in shown if name not in pages.VIEWS} <= {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "benchmarks" / "results").rglob("*.md")
    }


def test_marks_come_in_pairs():
    for name in NAMES:
        page = text(name)
        opened, closed = (len(re.findall(f"^<!-- {word}", page, flags=re.MULTILINE)) for word in ("from: ", "end -->"))
        assert opened == closed == len(pages.MARK.findall(page)), name


def tables_by_hand(page: str) -> list[str]:
    """The headings of tables outside marks in which a cell is a number."""
    heading, found, table = "", [], []
    for line in [*pages.MARK.sub("", page).splitlines(), ""]:
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line.startswith("|"):
            table.append(line)
            continue
        cells = [cell.strip() for row in table[2:] for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        if any(re.fullmatch(NUMBER, cell) for cell in cells):
            found.append(heading)
        table = []
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("docs/audit/")])
def test_tables_of_numbers_come_from_results(name):
    typed = {(name, heading) for heading in tables_by_hand(text(name))}
    assert typed <= DEFINITIONS


def test_prose_on_su16_holds_choices_and_no_results():
    prose = pages.MARK.sub("", text("docs/papers/su16.md"))
    chosen = {"4%", "0.1", "0.7", "0.225"}  # for the number of rows; of figures 7 and 5; rho
    assert set(re.findall(r"\d+\.\d+|\d+%", prose)) == chosen
    assert not re.search(r"\d (times|minutes|seconds|of \d+ (cells|sets))", prose)


@pytest.mark.parametrize(
    ("name", "words", "value"),
    [
        ("docs/guide/sampling.md", "on one sample of 1% cost {:.3f}", math.log1p(0.01 * math.expm1(5))),
        ("docs/guide/sampling.md", "ten times the amplified {:.2g}", math.log1p(0.01 * math.expm1(0.5))),
        ("docs/guide/zones.md", "cost such a row {:.2f}, not 0.2", math.log1p(RATE * math.expm1(2)) + 0.005),
        ("docs/guide/pitfalls.md", "ten of them come to {:.2f}", math.log1p(RATE * math.expm1(10))),
        ("docs/guide/choosing.md", "| 0.1 | {:.2f} |", math.exp(0.1)),
        ("docs/guide/choosing.md", "| 0.5 | {:.2f} |", math.exp(0.5)),
        ("docs/guide/choosing.md", "| 1 | {:.1f} |", math.exp(1)),
        ("docs/guide/choosing.md", "| 3 | {:.0f} |", math.exp(3)),
        ("PRIVACY.md", "surer than {:.1f} in 100", math.ceil(1000 / (1 + math.exp(-1))) / 10),
    ],
)
def test_numbers_of_formulas_in_sentences_are_those_of_the_formulas(name, words, value):
    assert words.format(value) in " ".join(text(name).split())


def test_how_long_the_attacks_take_is_what_they_took():
    about = json.loads(text("docs/audit/results.json"))["about"]
    assert f"the attacks alone {about['seconds_of_work'] / 2 / 60:.0f} minutes" in text("CONTRIBUTING.md")  # two cores


DRAWN = {  # what the demo, a release, answers to questions, a page and the studio look like, and how to choose
    f"docs/guide/images/{name}.png"
    for name in (
        "demo-map",
        "how-many",
        "private-bounds",
        "profile",
        "published-page",
        "release-map",
        "studio",
        "studio-dark",
        "studio-joensuu",
        "studio-new-york",
        "studio-phone",
        "which-algorithm",
    )
}


def test_pictures_are_results():
    for name in NAMES:
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text(name)):
            path = ((ROOT / name).parent / target).resolve().relative_to(ROOT)
            assert path.is_relative_to("benchmarks/results") or path.as_posix() in DRAWN


def test_no_definition_is_listed_in_vain():
    typed = {(name, heading) for name in NAMES for heading in tables_by_hand(text(name))}
    assert typed >= DEFINITIONS


def test_the_checks_can_fail():
    table = "## Times\n| what | time |\n|---|---|\n| a fit | 3.2 s |\n"
    assert tables_by_hand(table) == ["Times"]
    assert tables_by_hand("## Names\n| what | name |\n|---|---|\n| a fit | Ada |\n") == []
    marked = f"<!-- from: growth -->\n{table}<!-- end -->\n"
    assert tables_by_hand(marked) == []
    assert pages.fill(marked) != marked
    assert pages.fill(pages.fill(marked)) == pages.fill(marked)


def test_lines_of_a_filled_page_are_wrapped():
    assert all(len(line) <= pages.WIDTH for line in pages.wrapped("- " + "word " * 60).splitlines())
    assert pages.wrapped("| " + "word " * 60) == "| " + "word " * 60
