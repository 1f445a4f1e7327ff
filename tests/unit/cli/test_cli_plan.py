"""`covey plan`: what is printed, what is refused and taught, and that the numbers are those of the library."""

import json

import pytest
from click.testing import CliRunner

from covey.cli.main import cli, main
from covey.theory.forecast import forecast, smallest_epsilon, smallest_n

SHAPE = {"n": 1e5, "d": 2, "k": 10}
USUAL = ["plan", "--n", "1e5", "-d", "2", "-k", "10"]
NEW_YORK = ["--bounds", "lon=-74.3:-73.65,lat=40.45:41.0"]


def run(*arguments):
    done = CliRunner().invoke(cli, [*USUAL, *arguments])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*USUAL, *arguments])
    assert end.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_the_table_has_a_column_for_each_error():
    words = run()
    assert "epsilon expected extra cost size error place error found" in words
    assert "tree" in words
    assert "What nobody can beat" in words
    assert "however many rows there are: some data" in words
    assert "constant times" not in words  # Ω tells no number, and so none is shown
    assert "8 of 10" in words
    assert "clusters that are found at all" in words


def test_wishes_are_answered_with_what_is_likely_and_what_is_nearly_sure():
    words = run("--error", "5%", "--size-error", "0.05", "--place-error", "2%")
    for what, most, start in (
        ("cost", 0.05, "An extra cost"),
        ("size", 0.05, "A size error"),
        ("place", 0.02, "A place"),
    ):
        needed = smallest_epsilon(what=what, most=most, **SHAPE)
        assert start in words
        assert f"should need epsilon {needed.usual:g}; to be nearly sure, {needed.nearly_sure:g}." in words


def test_with_an_epsilon_the_rows_are_told_too():
    rows = smallest_n(what="cost", most=0.01, epsilon=0.2, d=2, k=10)
    words = run("--error", "1%", "--epsilon", "0.2")
    assert f"At epsilon 0.2 it should need {rows.usual:,.0f} rows; to be nearly sure, {rows.nearly_sure:,.0f}." in words


def test_json_holds_the_table_and_the_answers():
    found = json.loads(run("--error", "5%", "--place-error", "600m", "--extent", "30km", "--epsilon", "0.5", "--json"))
    assert [row["epsilon"] for row in found["forecast"]] == [0.5, 0.25, 0.05]
    expected = forecast(**SHAPE, epsilon=0.5)
    for what in ("cost", "size", "place"):
        assert found["forecast"][0][what] == getattr(expected, what)._asdict()
    needed = smallest_epsilon(what="place", most=0.02, **SHAPE)
    assert found["answers"]["place"]["most"] == pytest.approx(0.02)
    assert found["answers"]["place"]["epsilon"] == {"usual": needed.usual, "nearly_sure": needed.nearly_sure}
    assert found["answers"]["cost"].keys() == {"most", "epsilon", "n"}
    assert found["forecast"][0]["width"] == 30_000


def test_metres_are_shares_of_the_longest_side():
    by_share = json.loads(run("--place-error", "1%", "--json"))["answers"]["place"]
    by_extent = json.loads(run("--place-error", "300m", "--extent", "30km", "--json"))["answers"]["place"]
    assert by_extent["epsilon"] == by_share["epsilon"]
    north = 0.55 * 111_320.0  # longer than 0.65 degrees of longitude at 40 degrees north
    by_bounds = json.loads(run("--place-error", "1km", *NEW_YORK, "--json"))
    assert by_bounds["forecast"][0]["width"] == pytest.approx(north)
    assert by_bounds["answers"]["place"]["most"] == pytest.approx(1000 / north)
    turned = ["--bounds", "lat=40.45:41.0", "--bounds", "lon=-74.3:-73.65"]
    assert json.loads(run(*turned, "--json"))["forecast"][0]["width"] == pytest.approx(north)
    across = json.loads(run("--bounds", "lon=-10:10,lat=-1:3", "--json"))["forecast"][0]["width"]
    assert across == pytest.approx(20 * 111_320.0)
    assert " m (" in run("--extent", "30km")


@pytest.mark.parametrize(
    ("arguments", "taught"),
    [
        (["--error", "5"], "--error: 5 would be 500%: for 5% write 5%"),
        (["--error", "300m"], "--error: '300m' is not of the form 5% or 0.05"),
        (["--error", "-5%"], "--error: '-5%' is not of the form"),
        (["--error", "nan"], "--error: 'nan' is not of the form"),
        (["--size-error", "few"], "--size-error: 'few' is not of the form 5% or 0.05"),
        (["--place-error", "300ft"], "--place-error: '300ft' is not of the form 300m, 1.5km or 2%"),
        (["--place-error", "300m"], "--place-error: 300m needs the size of the domain: add --extent 30km"),
        (["--place-error", "300"], "--place-error: 300 would be 30000%"),
        (["--extent", "30"], "--extent: '30' is not of the form 30km or 800m"),
        (["--bounds", "x=0:1,y=0:1"], "--bounds: tell a width in metres for 2 columns with names such as lon"),
        (["--bounds", "0:1,0:1"], "--bounds: tell a width"),
        (["--n", "many"], "--n: must be a number"),
        (["--n", "100", "--size-error", "0.1%"], "--size-error: cannot be reached with 100 rows at any usual epsilon"),
        (["--n", "100", "--place-error", "1m", "--extent", "30km"], "m at epsilon 10"),
        (["--target", "1.05"], "No such option"),
    ],
)
def test_wrong_units_and_impossible_wishes_teach(capsys, arguments, taught):
    assert taught in refused(capsys, *arguments)


def test_a_picture_of_all_three(tmp_path):
    picture = tmp_path / "plan.png"
    run("--error", "5%", "--place-error", "300m", "--extent", "30km", "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_what_lies_beyond_the_measured_is_said():
    assert "beyond what was measured" not in run("--error", "5%")
    assert "beyond what was measured" in run("--n", "1e9", "--error", "5%")
    assert "<0.01%" in run("--n", "1e9")
