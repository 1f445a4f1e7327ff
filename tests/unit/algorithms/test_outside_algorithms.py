"""Algorithms that other packages offer: run like Covey's own, named by package, refused if they state too little."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from covey.algorithms import outside
from covey.algorithms.registry import find
from covey.audit import cases, targets
from covey.bench.utility.tasks import System
from covey.cli.main import cli
from covey.errors import ParameterError
from covey.fit.fit import fit
from elsewhere import NAME, TILES, offered, tiles


@pytest.fixture(scope="module")
def release():
    with offered() as name:
        rows = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 300, axis=0)
        return fit(rows, k=2, epsilon=5, bounds=(-1, 1), algorithm=name, algorithm_params={"side": 4}, random_state=1)


def test_it_is_run_and_its_certificate_says_whose_it_is(release):
    assert sorted(np.sign(release.centres)[:, 0]) == [-1, 1]
    assert release.certificate.algorithm == NAME
    assert release.certificate.parameters["algorithm_by"] == "tiles-package 1.2"
    assert "The algorithm is that of tiles-package 1.2, not one of Covey's" in release.certificate.statement


def test_covey_s_own_say_nothing_of_it():
    own = fit(np.zeros((20, 2)), k=1, epsilon=1, bounds=(-1, 1), algorithm="grid", random_state=1)
    assert "algorithm_by" not in own.certificate.parameters
    assert "not one of Covey's" not in own.certificate.statement


def test_its_parameters_have_ranges():
    with offered() as name, pytest.raises(ParameterError, match="side"):
        fit(np.zeros((20, 2)), k=1, epsilon=1, bounds=(-1, 1), algorithm=name, algorithm_params={"side": 1000})


def boastful(curator, *, k, epsilon, public_rng):
    """Guarantee: that of tiles."""
    notes = {"choice": "nothing was ever safer", "zones": [{"epsilon": 0.1}], "algorithm_by": "Covey", "cells": 64}
    return replace(tiles(curator, k=k, epsilon=epsilon, public_rng=public_rng), notes=notes)


def test_it_does_not_word_the_promise():
    with offered(replace(TILES, run=boastful)) as name:
        made = fit(np.zeros((20, 2)), k=1, epsilon=1, bounds=(-1, 1), algorithm=name, random_state=1)
    told = made.certificate.parameters
    assert (told["algorithm_by"], told["cells"]) == ("tiles-package 1.2", 64)
    assert not {"choice", "zones"} & set(told)
    assert "safer" not in made.certificate.statement
    assert "zone" not in made.certificate.statement


def test_it_is_listed_as_not_covey_s_own():
    with offered() as name:
        done = CliRunner().invoke(cli, ["algorithms", "--json"], catch_exceptions=False)
    rows = {row["name"]: row for row in json.loads(done.output)}
    assert rows[name]["by"] == "tiles-package 1.2, not Covey's own"
    assert {row["by"] for own, row in rows.items() if own != name} == {"Covey"}


def test_benchmarks_and_audits_find_it():
    with offered() as name:
        assert System.parse(f"covey:{name}", pure=False).pure
        assert targets.find(name).guarantee == "pure"
        assert {each.neighbours for each in cases.cases([name], epsilons=[1.0], pairs=["one or none"])} == {
            "add-remove",
            "replace-one",
        }


def test_without_the_package_it_is_unknown():
    with pytest.raises(ParameterError, match="must be one of 'auto'"):
        find(NAME)
    with offered(), pytest.raises(ParameterError, match=NAME):
        find("tiles")


def bare(curator, *, k, epsilon, public_rng, side=8): ...


def positional(curator, k):
    """Guarantee: none."""


def rangeless(curator, *, k, side=8):
    """Guarantee: none."""


def chosen(curator, *, k, choice="any"):
    """Guarantee: none."""


def needy(curator, *, k, wish):
    """Guarantee: none."""


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (tiles, "must be a covey.algorithms.registry.Algorithm"),
        (replace(TILES, guarantee="some"), "guarantee"),
        (replace(TILES, neighbours=()), "relations"),
        (replace(TILES, paper=""), "paper"),
        (replace(TILES, run=bare), "docstring"),
        (replace(TILES, run=positional), "keyword"),
        (replace(TILES, run=needy), "no fit supplies wish"),
        (replace(TILES, run=chosen), "choice in a certificate is what the fit says"),
        (replace(TILES, run=rangeless), "side must declare a range"),
        (ImportError("no such thing"), "cannot be imported: ImportError"),
    ],
)
def test_what_states_too_little_is_refused_and_does_not_stop_the_list(row, words):
    with offered(row) as name:
        with pytest.raises(ParameterError, match=words):
            find(name)
        done = CliRunner().invoke(cli, ["algorithms"], catch_exceptions=False)
    assert done.exit_code == 0
    assert words in done.output
    assert name in done.output


def test_all_of_covey_s_own_would_be_taken():
    from covey.algorithms.registry import ALGORITHMS

    assert [name for name, row in ALGORITHMS.items() if outside.lacks(row)] == []


def test_an_installed_package_is_found_and_imported_only_when_asked_for(tmp_path, monkeypatch):
    told = tmp_path / "tiles_package-1.2.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: tiles-package\nVersion: 1.2\n")
    (told / "entry_points.txt").write_text("[covey.algorithms]\ntiles = offers_tiles:ROW\n")
    (tmp_path / "offers_tiles.py").write_text("from elsewhere import TILES as ROW\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert NAME in outside.entries()
    assert "offers_tiles" not in sys.modules
    assert find(NAME).origin == "tiles-package 1.2"
    monkeypatch.delitem(sys.modules, "offers_tiles")
