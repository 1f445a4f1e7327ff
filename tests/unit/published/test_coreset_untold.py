"""What a coreset says of numbers that noise hides, whose error nobody knows, or whose ends are a bracket."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from covey import Box, Certificate, Coreset, PrivateCoreset
from covey.cli.answers import BRACKET, above_the_best, remarks, rows_in_words, show_answers, units
from covey.cli.coreset import show_coreset
from covey.post.errors.costs import FEW, WIDE, Cost
from covey.published import elbow
from covey.published.coreset.answers import UNKNOWN, ZONED, bracketed, mean_cost
from covey.published.coreset.choose import Choice
from covey.published.coreset.compare import Alternative
from covey.published.coreset.counting import rows_of
from covey.published.errors import BoxNoise

SQUARE = {"type": "box", "lower": [-1.0, -1.0], "upper": [1.0, 1.0]}
MAP = {
    "type": "box",
    "lower": [-74.1, 40.7],
    "upper": [-73.9, 40.9],
    "scale": [0.757, 1.0],
    "equal_metres": True,
}
DOUBT = "there are fewer balls than centres; the noise is large"
SITES = [[0.0, 0.0]]


def made_up(parameters=None, *, columns=("x", "y"), domain=SQUARE, algorithm="auto", **options):
    certificate = Certificate(
        algorithm=algorithm,
        parameters=parameters or {},
        epsilon=1.0,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain=domain,
        seeded=False,
        covey="0.2.0",
    )
    points = np.array([[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5]])
    middle, half = np.add(domain["lower"], domain["upper"]) / 2, np.subtract(domain["upper"], domain["lower"]) / 2
    return Coreset(middle + points * half, [50.0, 30.0, 20.0], columns=columns, certificate=certificate, **options)


def without_cells(*, trusted=True, **options):
    notes = {"rows_inside": 100, "rows_outside": 0, "rows_outside_scale": 2.0, "cost_noise": 1.0}
    trust = {"cost_trusted": trusted, **({} if trusted else {"cost_doubt": DOUBT})}
    return made_up(notes | trust, spreads=[0.1, 0.1, 0.1], **options)


def counted(*, scale=10.0, **options):
    noise = BoxNoise(2 * scale**2, 3 * scale, scale)
    return made_up(cells=np.full((3, 2), 0.5), noise=noise, **options)


# --- one gate for costs, distances and differences --------------------------------------------------------------------


@pytest.mark.parametrize("domain", [SQUARE, {**SQUARE, "upper": [1.0, 100.0]}])
def test_what_hides_a_cost_hides_the_distance_and_the_difference_for_the_same_reason(domain):
    """Whether columns are stretched unequally or not: they are the same sums."""
    coreset = without_cells(trusted=False, domain=domain)
    assert coreset.cost(SITES, interval=True).why == DOUBT
    assert coreset.mean_way(SITES).why == DOUBT
    assert coreset.cost_difference(SITES, [[0.1, 0.1]]).why == DOUBT
    assert mean_cost(coreset, SITES, "k-means").why == DOUBT
    row = coreset.compare({"a": SITES}, objective="k-means")[0]
    assert row.way_why == row.why == DOUBT
    told = remarks(None, [row], bracket=True)
    assert told == [f"The distance cannot be told: {DOUBT}."]
    assert remarks("k-means", [row], bracket=True) == [f"The distance and the k-means cost cannot be told: {DOUBT}."]


def test_a_bracket_is_called_one_and_no_interval_that_holds_so_often():
    coreset = without_cells()
    assert bracketed(coreset)
    rows = coreset.compare({"a": SITES, "b": [[0.1, 0.1]]}, objective="k-means")
    assert rows[0].low is not None
    told = remarks("k-means", rows, bracket=bracketed(coreset))
    assert BRACKET in told
    assert not any("times in 10" in each or "differences are known" in each for each in told)


def test_a_difference_without_an_interval_says_that_its_error_is_unknown():
    best, other = without_cells().compare({"a": SITES, "b": [[0.1, 0.1]]}, objective="k-means")
    assert above_the_best(best, None) == "0"
    assert above_the_best(other, None).endswith(" (error unknown)")
    assert above_the_best(other, best.cost).endswith("% (error unknown)")


def test_differences_with_intervals_say_what_they_are():
    rows = counted(scale=0.1).compare({"a": SITES, "b": [[-0.6, -0.6]]}, objective="k-means")
    told = " ".join(remarks("k-means", rows, bracket=False))
    assert "Each interval holds 9 times in 10." in told
    assert "differences are known better than costs" in told


def test_a_share_of_a_cost_that_noise_hides_is_not_told():
    rows = counted(scale=0.1).compare({"a": SITES, "b": [[-0.6, -0.6]]}, objective="k-means")
    assert above_the_best(rows[1], float("nan")) == "more, by what share cannot be told"


def test_with_zones_the_reason_names_them():
    zoned = made_up({"zones": [{"name": "old town"}]}, cells=np.full((3, 2), 0.5))
    assert zoned.cost(SITES, interval=True).why == ZONED
    assert zoned.mean_way(SITES).why == ZONED
    assert zoned.cost_difference(SITES, [[0.1, 0.1]]).why == ZONED
    assert made_up().cost(SITES, interval=True).why == UNKNOWN
    row = zoned.compare({"a": SITES}, objective="k-means")[0]
    assert remarks(None, [row], bracket=True) == [f"How far off the distance may be cannot be told: {ZONED}."]


def test_what_hides_a_difference_is_said_where_costs_are_not_shown():
    shown = Alternative("a", 1.0, 0.0, admissible=True, reason="", why=WIDE, way=1.0, way_low=0.9, way_high=1.1)
    assert above_the_best(shown, float("nan")) == "cannot be told"
    assert remarks(None, [shown], bracket=False)[0] == f"The cost cannot be told: {WIDE}."


def test_a_difference_to_a_cost_that_noise_hides_is_not_told(capsys):
    """There are rows enough for one centre, and too few for two."""
    coreset = counted(scale=1.0)
    sets = {"one": SITES, "two": [[0.5, 0.0], [-0.5, 0.5]]}
    best, other = rows = coreset.compare(sets, objective="k-means")
    assert (best.name, best.why, other.difference_low) == ("two", FEW, None)
    assert above_the_best(other, None, bracket=bracketed(coreset)) == "cannot be told"
    for scaled in (True, False):
        show_answers(coreset, "k-means", rows, sets=sets, metres=False, speed=None, scaled=scaled)
    assert "error unknown" not in capsys.readouterr().out


# --- units ------------------------------------------------------------------------------------------------------------


def test_the_unit_of_costs_on_a_map_is_half_of_one_column():
    asked = {"metres": True, "scaled": True}
    assert "half of lat's range" in units(made_up(columns=("lon", "lat"), domain=MAP), **asked)
    assert "equal metres" in units(made_up(columns=("lon", "lat"), domain=MAP), **asked)
    assert "half of each column's range" in units(made_up(), metres=False, scaled=True)


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("algorithm", ["ball-coreset", "auto"])
def test_a_bracket_holds_what_rows_that_are_spread_as_is_taken_pay(objective, algorithm):
    coreset = without_cells(algorithm=algorithm)
    between = [[1.0, 0.0], [0.0, 1.0]]  # of which one point is as far from both: half of its rows pay less for either
    told = coreset.cost(between, objective=objective, interval=True)
    assert told.why is None
    assert told.low <= told.cost <= told.high
    way = coreset.mean_way(between, objective=objective)
    assert np.isnan(way.low) or way.low <= way.cost <= way.high
    elbow.elbow_plot(Choice(2, 2, 2, 2, {2: told}, more=False, bracket=True), objective)


# --- numbers of rows --------------------------------------------------------------------------------------------------


def test_counts_have_an_interval_where_the_noise_is_known():
    coreset = counted()
    whole = coreset.count(Box((-1, 1), (-1, 1)), interval=True)
    assert whole == rows_of(coreset)
    assert whole.rows == coreset.count(Box((-1, 1), (-1, 1))) == 100
    assert 100 - whole.low == pytest.approx(whole.high - 100)
    assert 1.5 * (3 * 200) ** 0.5 < whole.high - 100 < 1.8 * (3 * 200) ** 0.5  # of three draws, 9 times in 10
    one = coreset.count(Box((0, 1), (0, 1)), interval=True)
    assert one.rows == 50
    assert one.high - one.rows < whole.high - whole.rows
    cut = coreset.count(Box((0.5, 1), (0, 1)), interval=True)
    assert cut.rows == 25
    assert cut.high - cut.rows > 0.5 * (one.high - one.rows)  # where in the cell rows are counts too
    empty = coreset.count(Box((-1, -0.9), (-1, -0.9)), interval=True)
    assert (empty.rows, empty.why) == (0, None)
    assert (empty.low, empty.high) == (0, 0)


def test_a_border_that_is_off_by_rounding_cuts_no_cell():
    coreset = counted(scale=0.1)
    almost, whole = Box((0.25 + 1e-15, 1), (-1, 1)), Box((0, 1), (-1, 1))
    assert coreset.count(almost, interval=True)[:3] == pytest.approx(coreset.count(whole, interval=True)[:3])


def test_counts_hold_their_rows_nine_times_in_ten():
    rng = np.random.default_rng(3)
    middles = np.array([[-0.6, -0.5], [0.3, 0.4], [0.7, -0.6]])
    rows = np.clip(middles[rng.integers(3, size=5000)] + rng.normal(0, 0.1, (5000, 2)), -1, 1)
    boxes = [((-1, 1), (-1, 1)), ((-0.65, 0.33), (-0.55, 0.45)), ((0.25, 0.4), (0.3, 0.5))]
    true = [
        int(np.all([(each >= low) & (each <= high) for each, (low, high) in zip(rows.T, box, strict=True)], 0).sum())
        for box in boxes
    ]
    held = np.zeros(len(boxes))
    for seed in range(60):
        fitted = PrivateCoreset(bounds=(-1, 1), errors="none", epsilon=0.5, random_state=seed).fit(rows)
        told = [fitted.coreset_.count(Box(*box), interval=True) for box in boxes]
        held += [each.low <= rows_there <= each.high for each, rows_there in zip(told, true, strict=True)]
    assert (held >= 48).all()  # seeded: the number is the same each time
    assert (held < 60).any()


@pytest.mark.parametrize("scale", [None, {"x0": 0.3}])
def test_rows_that_were_moved_to_the_edge_are_all_within_the_bounds(scale):
    rows = np.full((5000, 2), 7.0)  # narrow cells there reach beyond the bounds
    coreset = PrivateCoreset(bounds={"x0": (-1.1, 3.3), "x1": (-7, 5)}, scale=scale, random_state=0).fit(rows).coreset_
    whole = rows_of(coreset)
    for box in (Box(x0=(-1.1, 3.3), x1=(-7, 5)), Box(x0=(-2, 9), x1=(-7, 5)), Box(x0=(-2, 9))):
        assert coreset.count(box, interval=True)[:3] == pytest.approx(whole[:3])
    assert coreset.count(Box(x1=(4, 5))) == pytest.approx(5000, rel=0.05)


@pytest.mark.parametrize("method", ["grid", "auto"])
def test_counts_beside_the_edge_hold_though_rows_outside_were_moved_there(method):
    rng = np.random.default_rng(3)
    rows = np.clip(np.column_stack([rng.normal(0.7, 0.5, 20_000), rng.uniform(-1, 1, 20_000)]), -1, 1)
    coreset = PrivateCoreset(4, bounds=(-1, 1), method=method, errors="none", random_state=1).fit(rows).coreset_
    for low, high in ((0.98, 1), (0.9, 0.99), (0.5, 0.999), (-1, 0.999)):
        told = coreset.count(Box((low, high), (-1, 1)), interval=True)
        assert told.low <= ((rows[:, 0] >= low) & (rows[:, 0] <= high)).sum() <= told.high
    whole = coreset.count(Box((-1, 1), (-1, 1)), interval=True)
    assert whole.high - whole.low < 1000  # where no border is beside the edge, nothing is wider


def test_counts_without_known_noise_say_why():
    told = without_cells().count(Box((-1, 1), (-1, 1)), interval=True)
    assert (told.rows, told.why) == (100, UNKNOWN)
    assert np.isnan(told.low)


def test_a_number_of_rows_that_noise_took_below_0_is_told_as_0(capsys):
    coreset = counted()
    below = Coreset(
        coreset.points,
        -coreset.weights,
        columns=coreset.columns,
        certificate=coreset.certificate,
        cells=coreset.cells,
        noise=coreset.noise,
    )
    assert rows_in_words(below) == "0 rows (noisy; 0 to 41, 9 times in 10)"
    show_coreset(below)
    assert "Noise took the number of rows below 0: it is told as 0." in capsys.readouterr().out
    show_coreset(coreset)
    assert "below 0" not in capsys.readouterr().out


def test_the_number_of_rows_is_told_with_its_error():
    assert rows_in_words(counted()) == "100 rows (noisy; 59 to 141, 9 times in 10)"
    assert rows_in_words(without_cells()) == "100 rows (noisy; error unknown)"


# --- how many clusters ------------------------------------------------------------------------------------------------

NAN = float("nan")
HIDDEN = {2: Cost(-12.4, NAN, NAN, WIDE), 3: Cost(56.4, NAN, NAN, FEW), 4: Cost(12.3, NAN, NAN, FEW)}
PARTLY = {2: Cost(250.0, 196.0, 304.0), 3: Cost(186.0, NAN, NAN, WIDE), 4: Cost(103.0, NAN, NAN, UNKNOWN)}


def chosen(costs, asked=(2, 9), **more):
    return Choice(None, 2, None, None, costs, more=False, asked=asked, **more)


def test_reasons_and_the_end_of_the_list_are_said():
    told = " ".join(chosen(HIDDEN).remarks("k-means"))
    assert f"The k-means cost of 2 clusters cannot be told: {WIDE}." in told
    assert f"The k-means cost of 3 and 4 clusters cannot be told: {FEW}." in told
    assert "More than 4 clusters are not looked for" in told
    assert chosen(HIDDEN, asked=(2, 4)).remarks("k-means")[-1].endswith(f"{FEW}.")
    assert chosen({}).remarks("k-means") == [
        "No costs are shown: too few points of this coreset stand out of the noise."
    ]
    assert "of so many" not in chosen({}).words


def drawn(found):
    axes = Figure().add_subplot()
    elbow._draw_costs(axes, found)
    return axes


def points_of(axes):
    """Of every drawn line, but the dotted ones that stand for what cannot be told."""
    return [tuple(line.get_xydata().ravel()) for line in axes.lines if line.get_linestyle() != ":"]


def test_a_cost_that_cannot_be_told_is_no_point_of_the_curve():
    axes = drawn(chosen(HIDDEN))
    assert points_of(axes) == []
    assert sorted(line.get_xdata()[0] for line in axes.lines) == [2, 3, 4]
    assert axes.get_yticks().size == 0
    assert axes.get_xlim() == (1.5, 9.5)  # nothing is cut at the edge
    axes = drawn(chosen(PARTLY))
    xs = {x for line in points_of(axes) for x in line[::2]}
    assert 3 not in xs
    assert {2, 4} <= xs
    assert axes.get_ylim()[0] == 0
    hollow = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o" and line.get_mfc() == "white"]
    assert hollow == [4]


def test_the_picture_says_what_its_marks_mean():
    notes = elbow.notes_of(chosen(PARTLY), "k-means")
    assert notes[0] == "Bar: 9 times in 10; hollow: error unknown; dotted: the cost cannot be told."
    assert "bracket" in elbow.notes_of(chosen(PARTLY, bracket=True), "k-means")[0]
    assert elbow.notes_of(chosen({2: Cost(1.0, 0.5, 1.5)}, asked=(2, 2)), "k-means") == ["Bar: 9 times in 10."]


@pytest.mark.parametrize("costs", [{}, HIDDEN, PARTLY])
def test_every_choice_can_be_drawn(costs):
    picture = imread(io.BytesIO(elbow.elbow_plot(chosen(costs), "k-means")))
    assert picture.shape[1] == 1200
    alarmed = imread(io.BytesIO(elbow.elbow_plot(chosen(costs), "k-means", seeded=True)))
    assert (alarmed != picture).any(), "as every picture, it says that it is not private"


# --- centres within limits --------------------------------------------------------------------------------------------


def test_a_difference_that_noise_hides_is_not_kept_as_an_estimate():
    listed = {"candidates": [[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5]]}
    hidden_, told = (
        without_cells(trusted=trusted).kmeans(2, **listed).certificate.parameters["constraints"]["more_than_found"]
        for trusted in (False, True)
    )
    assert hidden_["anywhere"] == [None] * 3
    assert told["anywhere"][0] is not None
    assert told["anywhere"][1:] == [None] * 2
