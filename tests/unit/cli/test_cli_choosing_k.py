"""`covey query --k-range`: how many clusters a coreset shows."""

import json

import numpy as np
import pytest

from covey import PrivateCoreset
from covey.cli.main import main


@pytest.fixture(scope="module")
def coreset(tmp_path_factory):
    rng = np.random.default_rng(4)
    middles = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6], [-0.7, 0.5]])
    rows = middles[rng.integers(4, size=8000)] + rng.normal(0, 0.06, (8000, 2))
    path = tmp_path_factory.mktemp("choosing") / "coreset.json"
    PrivateCoreset(epsilon=1.0, bounds=(-1, 1), errors="none", random_state=3).fit(rows).coreset_.save(path)
    return path


@pytest.fixture
def ask(coreset, capsys):
    """The exit code of a question, and what it printed."""

    def asked(*more):
        code = 0
        try:
            main(["query", str(coreset), "--k-range", *more])
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return asked


def test_the_number_is_told_with_the_costs_of_all(ask):
    code, told = ask("2:7")
    assert code == 0
    assert "4 clusters fit best" in " ".join(told.split())
    assert "epsilon" in told


def test_the_answer_as_data_and_as_a_picture(ask, tmp_path):
    _, told = ask("2:6", "--json", "--plot", str(tmp_path / "elbow.png"), "--allow-seeded")
    answer = json.loads(told)
    assert answer["k"] == 4
    assert [each["k"] for each in answer["costs"]] == [2, 3, 4, 5, 6]
    assert all(each["low"] <= each["cost"] <= each["high"] for each in answer["costs"])
    assert (tmp_path / "elbow.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_found_alone_tells_its_distance_once(coreset, capsys, tmp_path):
    """The table compares: of one set of centres it would tell the same distance once more, a little differently."""
    main(["query", str(coreset), "-k", "4"])
    assert "above the best" not in capsys.readouterr().out
    (tmp_path / "one.csv").write_text("x0,x1\n0,0\n")
    main(["query", str(coreset), "-k", "4", "--fixed", str(tmp_path / "one.csv")])
    assert "above the best" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["2-7"], "--k-range"),
        (["7:2"], "--k-range"),
        (["2:7", "-k", "3"], "-k"),
        (["2:7", "--plot", "x.png"], "--allow-seeded"),
    ],
)
def test_what_cannot_be_asked_is_named(ask, more, says):
    code, told = ask(*more)
    assert code == 2
    assert says in told


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A coreset whose noise hides costs."""
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("noisy") / "coreset.json"
    fitted = PrivateCoreset(epsilon=0.05, bounds=(-1, 1), errors="none", random_state=3)
    fitted.fit(np.clip(rng.normal(0, 0.3, (5000, 2)), -1, 1)).coreset_.save(path)
    return path


def test_a_cost_that_cannot_be_told_is_no_number_and_says_why(noisy, capsys):
    main(["query", str(noisy), "--k-range", "2:9", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert any(each["why"] for each in answer["costs"]), "noise hides some"
    assert all((each["cost"] is None) == (each["why"] is not None) for each in answer["costs"])
    assert max(each["k"] for each in answer["costs"]) < 9
    main(["query", str(noisy), "--k-range", "2:9"])
    told = " ".join(capsys.readouterr().out.split())
    for each in answer["costs"]:
        if each["cost"] is None:
            assert f" {each['k']} cannot be told" in told
            assert f": {each['why']}." in told
    assert "clusters are not looked for: that takes 4 points" in told
