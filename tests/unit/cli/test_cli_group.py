"""`covey group` and `--sample`: what is printed, what is refused, and that the numbers are those of the library."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from covey import ParameterError
from covey.cli.main import cli, main
from covey.published.release import Release
from covey.theory.group import group_privacy

USUAL = ["group", "--epsilon", "0.5", "--rate", "0.01", "--group", "100"]
SMALL = [*USUAL[:-1], "12"]


def run(*arguments):
    done = CliRunner().invoke(cli, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert end.value.code == 2
    return capsys.readouterr().err


def test_the_whole_curve_and_what_stands_beside_it():
    answer = json.loads(run(*USUAL, "--at", "1e-6", "--json"))
    found = group_privacy(0.5, group=100, rate=0.01)
    assert len(answer["curve"]) == 101
    for row, step in zip(answer["curve"], found.curve, strict=True):
        assert (row["threshold"], row["epsilon"], row["delta"]) == (step.threshold, step.epsilon, step.delta)
        assert row["finer_delta"] is None or row["finer_delta"] <= row["delta"]
    assert answer["curve"][2]["delta"] == pytest.approx(0.0794, abs=1e-4)
    assert answer["amplified"]["epsilon"] == pytest.approx(0.647, abs=5e-4)
    assert answer["naive"] == {"epsilon": 50.0, "delta": 0.0}
    assert answer["at"]["best_threshold"]["threshold"] == found.best_threshold(1e-6).threshold == 8
    assert answer["at"]["finer_epsilon"] <= 0.6467


def test_the_table_in_words():
    page = run(*USUAL, "--at", "1e-6")
    assert "best threshold is T = 8, epsilon 4;" in page
    assert "0.6467" in page
    assert "0.07938" in page
    assert len(page.splitlines()) < 45


def test_no_promise_is_rounded_down_in_words(tmp_path):
    """ "Rounded up", the page says: the nearest four digits may promise too much."""
    answer, page = json.loads(run(*USUAL, "--json")), run(*USUAL)
    for step, words in zip(answer["curve"], (line.split() for line in page.splitlines()[4:]), strict=False):
        if words and words[0] == str(step["threshold"]):
            told = [float(each) for each in words[1:]]
            assert all(a >= b for a, b in zip(told, (step["epsilon"], step["delta"]), strict=False))
    found = group_privacy(0.5, group=100, rate=0.01, delta=1e-9)
    with pytest.raises(ParameterError) as error:
        found.best_threshold(1e-300)
    least = float(str(error.value).partition("at least ")[2].partition(":")[0])
    assert found.best_threshold(least).threshold == 100 or found.best_threshold(least).delta <= least
    with pytest.raises(ParameterError) as error:
        found.epsilon_at(1e-300)
    assert found.epsilon_at(float(str(error.value).partition("at least ")[2].partition(" ")[0])) > 0


def test_a_sample_of_fixed_size():
    answer = json.loads(run("group", "--epsilon", "1", "--sample", "10", "--n", "100", "--group", "5", "--json"))
    found = group_privacy(1, group=5, sample=10, n=100)
    assert [row["delta"] for row in answer["curve"]] == [step.delta for step in found.curve]


def test_an_approximate_mechanism_has_its_delta_in_every_step():
    answer = json.loads(run(*USUAL, "--delta", "1e-9", "--json"))
    assert all(row["delta"] > 0 for row in answer["curve"][1:])
    assert answer["naive"]["delta"] == 1.0


def test_large_groups_are_quick_and_short():
    page = run("group", "--epsilon", "0.1", "--rate", "0.001", "--group", "5000", "--at", "1e-5")
    assert len(page.splitlines()) < 45
    answer = json.loads(run("group", "--epsilon", "0.1", "--rate", "0.001", "--group", "5000", "--json"))
    assert len(answer["curve"]) == 5001


@pytest.mark.parametrize("more", [[], ["--delta", "1e-9"], ["--at", "1e-3"]])
def test_the_plot_is_a_picture(tmp_path, more):
    path = tmp_path / "group.png"
    assert "Wrote" in run(*SMALL, *more, "--plot", str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--epsilon", "0.5", "--group", "3"], "--rate"),
        (["--epsilon", "0.5", "--group", "3", "--rate", "0"], "--rate"),
        (["--epsilon", "0.5", "--group", "3", "--rate", "1.5"], "--rate"),
        (["--epsilon", "0.5", "--group", "3", "--rate", "x"], "--rate"),
        (["--epsilon", "0.5", "--group", "3", "--rate", "0.1", "--n", "5"], "--rate"),
        (["--epsilon", "-1", "--group", "3", "--rate", "0.1"], "--epsilon"),
        (["--epsilon", "1", "--group", "0", "--rate", "0.1"], "--group"),
        (["--epsilon", "1", "--group", "3", "--sample", "11", "--n", "10"], "--sample"),
        (["--epsilon", "1", "--group", "11", "--sample", "1", "--n", "10"], "--group"),
        (["--epsilon", "1", "--group", "3", "--rate", "0.1", "--delta", "1"], "--delta"),
        (["--epsilon", "1", "--group", "3", "--rate", "0.1", "--delta", "1e-3", "--at", "1e-9"], "--delta"),
        (["--epsilon", "1", "--group", "3", "--rate", "0.1", "--plot", "/no/such/folder/x.png"], "out"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(capsys, arguments, named):
    message = refused(capsys, "group", *arguments)
    assert message.startswith(f"covey: error: {named}")
    assert message.count("\n") == 1


# --- covey fit --sample -----------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    rows = np.random.default_rng(0).normal(scale=0.2, size=(5_000, 2))
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b", comments="")
    return str(tmp_path / "rows.csv")


@pytest.mark.parametrize(("sample", "kind"), [("0.1", "rate"), ("700", "rows_noisy"), ("auto:0.5", "target")])
@pytest.mark.parametrize("command", [["fit", "-k", "2"], ["coreset", "-k", "2", "--method", "grid"]])
def test_a_sample_on_the_command_line(table, tmp_path, command, sample, kind):
    out = str(tmp_path / "out.json")
    run(command[0], table, *command[1:], "--epsilon", "1", "--bounds", "-1:1,-1:1", "--sample", sample, "--out", out)
    document = json.loads((tmp_path / "out.json").read_text())
    assert kind in document["certificate"]["parameters"]["sample"]
    assert document["certificate"]["epsilon"] == 1
    if command[0] == "fit":
        assert len(Release.load(out).centres) == 2


@pytest.mark.parametrize("sample", ["0", "0.0", "1.5", "-1", "nan", "half", "true", "auto:2"])
def test_a_wrong_sample_on_the_command_line(capsys, table, sample):
    usual = ["fit", table, "-k", "2", "--epsilon", "1", "--bounds", "-1:1,-1:1"]
    assert refused(capsys, *usual, f"--sample={sample}").startswith("covey: error: --sample: ")


def test_of_fewer_rows_than_asked_for_all_are_taken(table):
    usual = ["fit", table, "-k", "2", "--epsilon", "1", "--bounds", "-1:1,-1:1", "--neighbours", "replace-one"]
    assert json.loads(run(*usual, "--sample", "5001", "--json"))["certificate"]["parameters"]["sample"]["size"] == 5000
