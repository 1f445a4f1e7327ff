"""The documents: what they say runs, exists, is complete, and names no machine."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import msgspec
import pytest

import covey
from covey.algorithms import registry
from covey.cli.main import cli, main
from covey.published.certificate import Certificate
from covey.published.release import Document, Release, Synopsis

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def test_the_documents_are_there():
    wanted = {"README.md", "PRIVACY.md", "CONTRIBUTING.md", "CHANGELOG.md"}
    wanted |= {f"docs/reference/{name}.md" for name in ("cli", "algorithms", "release-format")}
    wanted |= {"docs/README.md", "docs/guide/pitfalls.md"}
    assert wanted <= set(NAMES)


ROOMS = {"guide", "reference", "papers", "decisions", "audit"}


def test_every_page_has_a_room_and_stands_in_the_index():
    inside = [page.relative_to(ROOT / "docs") for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert {page.parts[0] for page in inside} == {*ROOMS, "README.md"}
    index = re.findall(r"^\| \[[^]]+\]\(([^)]+)\) \| \S", text("docs/README.md"), flags=re.MULTILINE)
    assert len(index) == len(set(index))
    assert {each for each in index if not each.startswith("../")} == {str(page) for page in inside} - {"README.md"}


def test_the_readme_lists_a_dozen_pages_at_most():
    listed = re.findall(r"^\| .*", text("README.md").partition("## Where to read on")[2], flags=re.MULTILINE)[1:]
    assert 6 < len(listed) <= 12
    assert all(row.partition(" | ")[0].count("](") == 1 for row in listed)
    assert "(docs/README.md)" in listed[-1]


NOTES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "src").rglob("*.md"))]


def long_lines(page: str) -> list[str]:
    return [line for line in page.splitlines() if len(line) > 140 and not line.startswith("|")]


@pytest.mark.parametrize("name", [*NAMES, *NOTES])
def test_lines_are_wrapped_but_for_tables(name):
    assert long_lines(text(name)) == []


def test_the_check_of_lines_can_fail():
    assert long_lines("word " * 29) != []
    assert long_lines("| " + "word " * 40) == []


# --- links, names, hygiene --------------------------------------------------------------------------------------------


def broken_links(page: str, folder: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page)
    return [each for each in targets if "://" not in each and not (folder / each).exists()]


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    assert broken_links(text(name), (ROOT / name).parent) == []


def test_the_link_check_can_fail():
    assert broken_links("see [this](no/such.md)", ROOT) == ["no/such.md"]


FORBIDDEN = {
    "a path of some machine": r"/(?:home|root|work|Users|tmp)/",
    "a package registry": r"pypi\.org|pythonhosted|npmjs|anaconda\.org|test\.pypi",
    "an unfinished place": r"\b(?:TODO|FIXME|XXX|TBD)\b",
}


def forbidden(page: str) -> list[str]:
    return [what for what, pattern in FORBIDDEN.items() if re.search(pattern, page)]


@pytest.mark.parametrize("name", NAMES)
def test_no_page_names_a_machine_or_a_registry(name):
    assert forbidden(text(name)) == []


@pytest.mark.parametrize("bad", ["see /home/me/data", "from pypi.org", "TODO: write"])
def test_the_hygiene_check_can_fail(bad):
    assert forbidden(bad)


@pytest.mark.parametrize("name", NAMES)
def test_files_of_the_project_that_a_page_mentions_exist(name):
    mentioned = re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.*-]+)`", text(name))
    missing = [each for each in mentioned if not list(ROOT.glob(each)) and "tiles" not in each and "name." not in each]
    assert missing == []


# --- the README runs --------------------------------------------------------------------------------------------------


def test_the_readme_is_one_screen_with_one_picture_and_three_commands():
    page = text("README.md")
    [shell] = blocks(page, "sh")
    assert [line.split("#")[0].strip() for line in shell.splitlines()] == ["make demo", "make test", "make docs"]
    assert page.count("![") == 1
    assert len(page.splitlines()) < 70
    assert len(page.partition("\n## ")[0].splitlines()) < 45
    assert len([line for line in blocks(page, "python")[0].splitlines() if line]) <= 10


def test_the_first_commands_are_targets_of_the_makefile():
    targets = re.findall(r"^([a-z]+):", text("Makefile"), flags=re.MULTILINE)
    assert {"demo", "test", "docs"} <= set(targets)
    assert "covey demo" in text("Makefile")


def test_the_example_of_the_readme_runs_as_it_stands(capsys):
    [script] = blocks(text("README.md"), "python")
    exec(compile(script, "README.md", "exec"), {})
    assert "differentially private" in capsys.readouterr().out


def followed(page: str) -> None:
    """Run what a page says, in its order: Python as it stands, and commands as the command line takes them."""
    for language, code in re.findall(r"^```(python|sh)\n(.*?)^```", text(page), flags=re.DOTALL | re.MULTILINE):
        if language == "python":
            exec(compile(code, page, "exec"), {})
            continue
        for line in code.replace("\\\n", " ").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "covey"
            main(arguments)


def test_the_first_five_minutes_go_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    followed("docs/guide/start.md")
    assert len(Release.load("release.json").centres) == 3
    assert json.loads(Path("centres.geojson").read_text())["type"] == "FeatureCollection"
    assert "differentially private" in " ".join(capsys.readouterr().out.split())


def test_a_ledger_is_kept_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("trips.csv").write_text("lon,lat\n" + "-74.0,40.8\n-73.95,40.75\n" * 500)
    followed("docs/guide/ledger.md")
    assert Path("again.json").read_bytes() == Path("june.json").read_bytes()
    assert capsys.readouterr().out.endswith("1.0 of 2.0\n")


def test_pages_that_are_read_one_after_the_other_work_in_one_folder(tmp_path, monkeypatch, capsys):
    """None needs a file that no page before it makes, or writes one that is there, or spends what another has spent."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for page in ("start", "after-the-release", "ledger", "people"):
        followed(f"docs/guide/{page}.md")
    wanted = ("release.json", "after.json", "after.geojson", "june.json", "again.json", "drivers.json")
    assert all(Path(each).exists() for each in wanted)
    assert "all rows with the same 'driver', of which at most 10 count" in capsys.readouterr().out


def test_people_work_without_any_other_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    followed("docs/guide/people.md")
    assert len(Release.load("drivers.json").centres) == 5


def test_what_the_guides_say_about_time_was_measured():
    rows = json.loads(text("benchmarks/results/speed.json"))["table"]
    sampled = [row for row in rows if row["part"] == "sample"]
    assert len(sampled) == 3
    for row in sampled:
        line = f"| {row['work']} | {row['seconds']:.2f} | {row['peer']} | {row['peer_seconds']:.2f} |"
        assert line in text("docs/guide/sampling.md")
    auto, grid = (row["value"] for row in rows if row["part"] == "growth")
    assert f"Time grows like n^{auto:.2f} (`auto`) and n^{grid:.2f} (`grid`)" in text("docs/guide/cluster.md")


# --- completeness -----------------------------------------------------------------------------------------------------


def section(page: str, heading: str) -> str:
    """From a heading to the next one of the same level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, flags=re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def undocumented(group: click.Group, page: str, path: str = "covey") -> list[str]:
    missing = []
    for name, command in group.commands.items():
        full = f"{path} {name}"
        if isinstance(command, click.Group):
            missing += undocumented(command, page, full)
            continue
        words = section(page, full)
        if not words:
            missing.append(full)
        for parameter in command.params:
            spelled = (
                parameter.opts if isinstance(parameter, click.Option) else [parameter.metavar or parameter.name or ""]
            )
            missing += [f"{full} {each}" for each in spelled if not re.search(rf"`[^`\n]*{re.escape(each)}\b", words)]
    return missing


def test_every_command_and_option_is_documented():
    assert undocumented(cli, text("docs/reference/cli.md")) == []


def test_the_check_of_commands_can_fail():
    group = click.Group("covey")
    group.add_command(click.Command("fit", params=[click.Option(["--epsilon-two"])]))
    group.add_command(click.Command("secret"))
    page = "## covey fit\nsays `--epsilon`\n"
    assert undocumented(group, page) == ["covey fit --epsilon-two", "covey secret"]


@pytest.mark.parametrize("name", registry.ALGORITHMS)
def test_every_algorithm_has_a_section_that_names_its_parameters(name):
    words = section(text("docs/reference/algorithms.md"), name)
    assert len(words) > 100
    assert [each for each in registry.ALGORITHMS[name].parameters if f"`{each}`" not in words] == []


def test_every_field_of_a_release_is_described():
    page = text("docs/reference/release-format.md")
    fields = [f.encode_name for kind in (Document, Certificate, Synopsis) for f in msgspec.structs.fields(kind)]
    assert [field for field in fields if f"`{field}`" not in page] == []


def test_the_example_document_is_a_release():
    example = blocks(text("docs/reference/release-format.md"), "json")[0]
    release = Release.from_json(example.encode())
    assert release.certificate.statement.startswith(json.loads(example)["statement"].rstrip(" …"))


def test_every_public_error_and_name_is_real():
    for page in ("README.md", "PRIVACY.md"):
        for name in re.findall(r"from covey import ([\w, ]+)", text(page)):
            assert all(hasattr(covey, each.strip()) for each in name.split(","))


def test_the_changelog_knows_this_version():
    assert f"## {covey.__version__.removesuffix('.dev0')}" in text("CHANGELOG.md")


@pytest.mark.parametrize(
    "words",
    [
        "Timing and memory",
        "raw file",
        "Messages to the operator",
        "without an anchor",
        "not keyed",
        "Seeded runs",
        "under two names",
        "predict",
        "replace-one",
        "add-remove",
    ],
)
def test_privacy_says_what_is_not_promised(words):
    assert words in " ".join(text("PRIVACY.md").split())


def test_decisions_have_context_decision_and_consequences():
    pages = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert [page.name[:4] for page in pages] == [f"{i:04d}" for i in range(1, len(pages) + 1)]
    for page in pages:
        assert all(f"**{word}" in page.read_text() for word in ("Context", "Decision", "Consequences")), page.name
