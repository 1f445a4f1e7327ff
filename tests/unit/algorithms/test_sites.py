"""`sites`: k of a public list, exactly listed ones; what is refused, before the charge; files on the command line."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import covey
from covey import Ball, Box, KMeans, KMedian, Ledger, ParameterError, Release
from covey.algorithms.local_search import MOST_PAIRS, check_pairs, first_choice
from covey.algorithms.registry import find
from covey.algorithms.sites import read_sites
from covey.audit.families import FAMILIES
from covey.audit.replay import moved, record_pair
from covey.cli.main import main
from covey.post.random import public_rng
from covey.public import Neighbours, resolve_bounds
from covey.queries.swaps import SwapGains

GRID = [[x / 4, y / 4] for x in range(-4, 5) for y in range(-4, 5)]
RELATIONS = [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE]


def near(rows: np.ndarray, places, *, objective: str) -> float:
    away = np.sqrt(np.square(rows[:, None] - np.asarray(places)).sum(axis=2)).min(axis=1)
    return float((away**2 if objective == "k-means" else away).mean())


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_with_a_generous_budget_the_sites_are_the_best_ones(blobs, objective):
    estimator = KMeans if objective == "k-means" else KMedian
    some = GRID[::6]
    model = estimator(
        3,
        epsilon=5000,
        bounds=(-1, 1),
        algorithm="sites",
        algorithm_params={"sites": some, "swaps": 12},
        random_state=1,
    ).fit(blobs)
    best = min(near(blobs, chosen, objective=objective) for chosen in combinations(some, 3))
    assert near(blobs, model.cluster_centers_, objective=objective) == pytest.approx(best, rel=1e-6)
    assert sum(model.release_.sizes) == pytest.approx(600, abs=5)


def test_at_a_usual_budget_the_choice_is_good(blobs):
    rows = np.repeat(blobs, 20, axis=0)
    found = [
        near(
            rows,
            KMedian(
                3, epsilon=1, bounds=(-1, 1), algorithm="sites", algorithm_params={"sites": GRID}, random_state=seed
            )
            .fit(rows)
            .cluster_centers_,
            objective="k-median",
        )
        for seed in range(4)
    ]
    assert np.median(found) < 0.3  # at best 0.13; the list's own middle, 0.7


@pytest.mark.parametrize(
    "bounds", [Box(lon=(-74.1, -73.9), lat=(40.7, 40.9)), Box((-1e-3, 5e9), (0.1, 0.3)), Ball(1.0)], ids=str
)
def test_the_centres_are_listed_sites_to_the_last_digit(bounds):
    rng = np.random.default_rng(2)
    domain = bounds.domain(None, 2)
    listed = (np.array(domain.middle) + np.array(domain.half) * rng.uniform(-0.7, 0.7, (60, 2))).tolist()
    rows = np.array(listed)[rng.integers(0, 60, 200)]
    release = KMeans(5, bounds=bounds, algorithm="sites", algorithm_params={"sites": listed}).fit(rows).release_
    numbers = release.certificate.parameters["site_numbers"]
    assert len(set(numbers)) == 5
    assert numbers == sorted(numbers)
    assert release.centres == [listed[i] for i in numbers]
    assert release.certificate.parameters["sites"] == listed
    assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("sizes", [True, False])
@pytest.mark.parametrize("n", [0, 50])
def test_all_of_epsilon_is_planned_and_drawn(curator_of, relation, sizes, n):
    epsilon = Fraction(7, 3)
    curator = curator_of(np.random.default_rng(0).uniform(-1, 1, (n, 2)), neighbours=relation, epsilon=epsilon, seed=3)
    outcome = find("sites").run(
        curator, k=3, epsilon=epsilon, public_rng=public_rng(0), sites=GRID, sizes=sizes, objective="k-median"
    )
    assert curator._reserve.opened.epsilon == epsilon
    assert curator._reserve.remaining == ()
    assert (outcome.sizes is None) == (not sizes)
    assert outcome.notes["swaps"] == 3


def test_as_many_sites_as_centres_are_all_taken(blobs):
    release = KMeans(2, bounds=(-1, 1), algorithm="sites", algorithm_params={"sites": [[0, 0], [0.5, 0.5]]}).fit(blobs)
    assert release.release_.centres == [[0, 0], [0.5, 0.5]]


def test_the_search_never_stops_early(curator_of, monkeypatch):
    made = []
    start = SwapGains.__init__
    monkeypatch.setattr(SwapGains, "__init__", lambda self, *a, **b: made.append(self) or start(self, *a, **b))
    rows = np.full((1000, 2), 0.5)
    curator = curator_of(rows, epsilon=Fraction(10**4), seed=1)
    find("sites").run(curator, k=2, epsilon=Fraction(10**4), public_rng=public_rng(0), sites=GRID, swaps=9)
    assert len(made) == 9


REFUSED = {
    "too large for a number": ([[10**400, 0.0], [0.0, 0.1], [0.2, 0.3]], "table of numbers"),
    "missing": (None, "must be given"),
    "words": ([["a", "b"]], "plain lists of numbers"),
    "a file name": ("sites.csv", "plain lists of numbers"),
    "ragged": ([[0, 0], [0]], "table of numbers"),
    "another width": ([[0, 0, 0]] * 5, "2 numbers for each site"),
    "one number each": ([0.0, 0.5, 0.1], "2 numbers for each site"),
    "fewer than k": ([[0, 0], [1, 1]], "are 2, but k = 3"),
    "none": ([], "2 numbers for each site"),
    "NaN": ([[0, 0], [float("nan"), 0], [1, 1]], "number 1"),
    "infinite": ([[0, 0], [0, 1], [float("inf"), 1]], "number 2"),
    "outside": ([[0, 0], [0, 1], [0.5, 0.5], [0, 1.01]], "number 3 .* outside the bounds"),
    "too many": ([[0, 0]] * 10_001, "at most 10,000"),
    "numpy numbers in objects": ([[0, None]] * 4, "plain lists of numbers"),
}


@pytest.mark.parametrize(("listed", "words"), REFUSED.values(), ids=REFUSED)
def test_wrong_lists_are_named_before_anything_is_charged(blobs, listed, words):
    ledger = Ledger.memory(dataset="d", epsilon=1)
    before = ledger.head
    model = KMeans(3, bounds=(-1, 1), algorithm="sites", algorithm_params={"sites": listed}, ledger=ledger, dataset="d")
    with pytest.raises(ParameterError, match=words) as refusal:
        model.fit(blobs)
    assert refusal.value.parameter == "sites"
    assert ledger.head == before


@pytest.mark.parametrize(("name", "value"), [("swaps", -1), ("swaps", 2.5), ("sizes", "yes"), ("sizes", 1)])
def test_wrong_parameters_are_named(blobs, name, value):
    with pytest.raises(ParameterError, match=name):
        KMeans(3, bounds=(-1, 1), algorithm="sites", algorithm_params={"sites": GRID, name: value}).fit(blobs)


def test_an_array_becomes_plain_lists_or_is_refused_before_the_charge(blobs):
    """Never a certificate that cannot be written, or a key bound to the short form that numpy prints."""
    ledger = Ledger.memory(dataset="d", epsilon=1)
    model = KMeans(
        3, bounds=(-1, 1), algorithm="sites", algorithm_params={"sites": np.array(GRID)}, ledger=ledger, dataset="d"
    )
    with suppress(ParameterError):
        model.fit(blobs)
    if not hasattr(model, "release_"):
        assert ledger.datasets()["d"].spent.epsilon == 0
    else:
        assert model.release_.certificate.parameters["sites"] == GRID
        assert Release.from_json(model.release_.to_json()) == model.release_


def test_a_ball_refuses_the_corners_of_its_box():
    domain = Ball(1.0).domain(None, 2)
    with pytest.raises(ParameterError, match="outside"):
        read_sites([[0.9, 0.9], [0, 0]], domain, k=1)
    assert read_sites([[1.0, 0.0], [0.6, 0.8]], domain, k=1).shape == (2, 2)


def test_one_column_takes_plain_numbers():
    domain = resolve_bounds((0, 10), names=None, width=1)
    assert read_sites([0.0, 5, 10.0], domain, k=2).ravel().tolist() == [-domain.limit, 0, domain.limit]


def test_too_many_swaps_to_weigh_are_refused():
    check_pairs(k=4, candidates=MOST_PAIRS // 4)
    with pytest.raises(ParameterError, match="n_clusters"):
        check_pairs(k=5, candidates=MOST_PAIRS // 4)


@pytest.mark.parametrize(("m", "k"), [(3, 3), (50, 7), (5000, 4), (1500, 700)])
def test_the_start_is_k_different_candidates_that_follow_from_the_list(m, k):
    points = np.random.default_rng(m).normal(0, 1, (m, 2))
    first, again = (first_choice(points, k, rng=public_rng(3)) for _ in range(2))
    assert len(set(first.tolist())) == k
    assert first.tolist() == again.tolist()
    same = first_choice(np.zeros((m, 2)), k, rng=public_rng(3))  # all in one place
    assert len(set(same.tolist())) == k


def test_the_list_can_be_kept_under_an_idempotency_key(tmp_path, blobs):
    book = Ledger.create(tmp_path / "x.ledger", dataset="d", epsilon=2).with_key("monday")

    def centres(listed):
        return (
            KMeans(
                3,
                epsilon=1,
                bounds=(-1, 1),
                algorithm="sites",
                algorithm_params={"sites": listed},
                ledger=book,
                dataset="d",
            )
            .fit(blobs)
            .release_.centres
        )

    assert centres(GRID) == centres(GRID)
    other = [*GRID[:40], [0.12345678901, 0.0], *GRID[41:]]  # differs in one place in the middle of the list
    with pytest.raises(covey.CoveyError, match="key"):
        centres(other)


# --- neighbours -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_on_neighbours_the_same_questions_are_asked(relation, objective):
    """The replay of the audit, with a list: 11 families of neighbours, columns, epsilons and bounds of many kinds."""
    given, seed = {"k": 3, "objective": objective}, int(objective == "k-median")
    for family in (each for each in FAMILIES if not each.people):
        first, second, _ = record_pair("sites", relation, family, seed, **given)  # raises if they diverge
        asked = [pair for pair in zip(first.steps, second.steps, strict=True) if pair[0].kind]
        assert asked
        assert [what for ours, theirs in asked if (what := moved(ours, theirs, relation)[1])] == []


# --- the command line -------------------------------------------------------------------------------------------------

BOUNDS = ("--bounds", "lon=-74.1:-73.9,lat=40.7:40.9")


@pytest.fixture
def town(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    people = np.column_stack([rng.normal(-74, 0.02, 2000), rng.normal(40.8, 0.02, 2000)])
    clinics = np.column_stack([rng.uniform(-74.09, -73.91, 20), rng.uniform(40.71, 40.89, 20)]).round(4).tolist()
    Path("people.csv").write_text("lon,lat\n" + "".join(f"{x:.6f},{y:.6f}\n" for x, y in people))
    Path("clinics.csv").write_text("name,lat,lon\n" + "".join(f"c,{y},{x}\n" for x, y in clinics))
    Path("clinics.json").write_text(json.dumps(clinics))
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": each}} for each in clinics
    ]
    Path("clinics.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return clinics


def run(capsys, *arguments):
    code = 0
    try:
        main([str(each) for each in ("fit", "people.csv", "-k", 3, "--epsilon", 1, *BOUNDS, *arguments)])
    except SystemExit as stop:
        code = stop.code or 0
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize("file", ["clinics.csv", "clinics.json", "clinics.geojson"])
def test_a_file_of_sites_from_the_command_line(town, capsys, file):
    code, out, err = run(
        capsys, "--algorithm", "sites", "--param", f"sites={file}", "--objective", "k-median", "--json"
    )
    assert code == 0, err
    release = json.loads(out)
    assert release["certificate"]["parameters"]["sites"] == town
    assert release["centres"] == [town[i] for i in release["certificate"]["parameters"]["site_numbers"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "sites=FILE"),
        (("--param", "sites=absent.csv"), "sites: cannot read"),
        (("--param", "sites=clinics.csv", "-k", 21), "are 20, but k = 21"),
        (("--param", "sites=two.csv"), "2 sets"),
        (("--param", "sites=bad.csv"), "the data's columns"),
        (("--param", "sites=clinics.csv", "--out", "clinics.csv", "--force"), "another file"),
    ],
)
def test_wrong_files_are_refused(town, capsys, arguments, words):
    Path("two.csv").write_text("lon,lat,set\n-74,40.8,a\n-74,40.81,b\n")
    Path("bad.csv").write_text("x,y\n1,2\n")
    code, _, err = run(capsys, "--algorithm", "sites", *arguments)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


def test_the_parameter_of_another_algorithm_is_not_read_as_a_file(town, capsys):
    code, _, err = run(capsys, "--algorithm", "lloyd", "--param", "sites=clinics.csv")
    assert code == 2
    assert "no parameter 'sites'" in err


@pytest.mark.parametrize("page", ["guide/sites", "reference/limits"])
def test_the_examples_of_the_pages_run(page, capsys):
    text = (Path(__file__).parents[3] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    exec(compile(example, page, "exec"), {})
    assert capsys.readouterr().out
