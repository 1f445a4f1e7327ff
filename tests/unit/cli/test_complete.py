"""What a shell offers: names of algorithms and data sets, files and folders."""

from __future__ import annotations

import click
import pytest
from click.shell_completion import BashComplete

from covey import Ledger
from covey.algorithms.registry import ALGORITHMS
from covey.bench.sets import UTILITY
from covey.cli.complete import NAMES, PATHS, everything, prepare
from covey.cli.main import cli, main


@pytest.fixture(autouse=True, scope="module")
def _prepared():
    prepare(cli)


def offered(*words: str) -> list[str]:
    *given, typed = words
    items = BashComplete(cli, {}, "covey", "_COVEY_COMPLETE").get_completions(given, typed)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in items]


def test_algorithms_and_methods_complete():
    assert offered("fit", "trips.csv", "--algorithm", "") == list(ALGORITHMS)
    assert offered("fit", "--algorithm", "gr") == ["grid"]
    assert offered("coreset", "--method", "n") == ["net"]
    assert "covey:grid" in offered("bench", "utility", "--system", "covey:")
    assert offered("audit", "--algorithm", "gr") == ["grid"]


def test_data_sets_of_a_ledger_complete(tmp_path):
    file = str(tmp_path / "city.ledger")
    Ledger.create(file, dataset="trips", epsilon=1).add("thefts", epsilon=1)
    assert sorted(offered("fit", "x.csv", "--ledger", file, "--dataset", "t")) == ["thefts", "trips"]
    assert offered("fit", "x.csv", "--ledger", file, "--dataset", "tr") == ["trips"]


def test_without_a_ledger_in_order_nothing_is_offered(tmp_path):
    (tmp_path / "no.ledger").write_text("not a ledger")
    assert offered("fit", "x.csv", "--dataset", "") == []
    assert offered("fit", "x.csv", "--ledger", str(tmp_path / "no.ledger"), "--dataset", "") == []


def test_sets_of_the_benchmark_complete_in_a_list():
    assert offered("bench", "utility", "--sets", "") == [each.name for each in UTILITY]
    assert offered("bench", "utility", "--sets", "s1,bir") == ["s1,birch2"]
    assert offered("bench", "data", "fetch", "bir") == ["birch1", "birch2"]


def test_files_and_folders_are_left_to_the_shell():
    assert offered("fit", "tr") == ["<file>"]
    assert offered("studio", "tr") == ["<file>"]
    assert offered("fit", "trips.csv", "--out", "") == ["<file>"]
    assert offered("demo", "--out", "") == ["<dir>"]


def test_every_name_in_the_tables_is_one_of_the_commands():
    parameters = [parameter for command in everything(cli) for parameter in command.params]
    assert set(NAMES) <= {name for each in parameters for name in (*each.opts, each.metavar)}
    assert {"FILE", "DATA", "DIR", "CORESET", "TRACK"} <= {each.metavar for each in parameters} & set(PATHS)


def test_the_shell_is_answered_by_the_command(monkeypatch, capsys):
    monkeypatch.setenv("_COVEY_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "covey fit trips.csv --algorithm max")
    monkeypatch.setenv("COMP_CWORD", "4")
    with pytest.raises((SystemExit, click.exceptions.Exit)):
        main()
    assert capsys.readouterr().out == "plain,max-cover\n"
