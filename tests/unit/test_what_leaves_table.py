"""One table of all that leaves: every field of every output is listed as noisy, public or fresh, and is that."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import product

import numpy as np
import pytest

from conftest import settings_of
from covey.algorithms.registry import ALGORITHMS
from covey.fit.fit import fit
from leaving import Fields, listed, slots_of_errors, table
from published import CASES, Town, made
from randomness import same_randomness

TABLE = table()
FIRST, OTHERS = (0, 1), (1, 2)  # town and noise: other rows,
AGAIN = tuple((0, noise) for noise in range(3, 9))  # and the same with other noise


@pytest.fixture(scope="module")
def publish(tmp_path_factory):
    """The fields that a case publishes, by the rows of the table they are listed in; each is made once."""
    known: dict[object, Fields] = {}

    def published(name: str, run: tuple[int, int]) -> Fields:
        if (name, run) not in known:
            folder = tmp_path_factory.mktemp("published") / "here"
            found: Fields = defaultdict(list)
            for where, values in made(name, town=run[0], noise=run[1], folder=folder).items():
                found[listed(TABLE, *where) or where] += values
            known[name, run] = found
        return known[name, run]

    return published


@pytest.mark.parametrize("name", CASES)
def test_every_field_that_leaves_is_listed(publish, name):
    for run in (FIRST, OTHERS):
        assert [where for where in publish(name, run) if where not in TABLE] == []


@pytest.mark.parametrize("name", CASES)
def test_public_fields_are_the_same_for_other_rows_and_fresh_ones_never(publish, name):
    first, others = publish(name, FIRST), publish(name, OTHERS)
    for where in first.keys() | others.keys():
        kind = TABLE[where].in_case(CASES[name].tags)
        ours, theirs = (list(dict.fromkeys(each.get(where, ()))) for each in (first, others))
        if kind == "public":
            assert ours == theirs, where
        if kind == "fresh":
            assert not set(ours) & set(theirs) - {"None", "'none was kept'"}, where


def test_noisy_fields_are_noisy_and_every_row_of_the_table_occurs(publish):
    """What is the same for the same rows with other noise is exact, whatever the table says."""
    rows = {where: row for where, row in TABLE.items() if where[0] != "Errors"}
    seen = {where for name in CASES for run in (FIRST, OTHERS) for where in publish(name, run)}
    assert rows.keys() - seen == set()
    still = {where for where, row in rows.items() if row.kind == "noisy"}
    for run, name in product(AGAIN, CASES):
        first = publish(name, FIRST)
        if still & first.keys():
            again = publish(name, run)
            still -= {where for where in still if first.get(where) != again.get(where)}
    assert still == set()


def test_errors_hold_what_is_listed():
    """What is put into their words, by the source; that values are not, test_canary.py tries out."""
    assert slots_of_errors() == {field for section, field in TABLE if section == "Errors"}


@pytest.mark.parametrize("algorithm", sorted(name for name, row in ALGORITHMS.items() if row.any_order))
def test_the_order_of_rows_changes_no_byte(algorithm):
    """Points in the order of rows, or sums that are rounded on the way, would tell more than the noise hides."""
    rows = Town(0, 700).points()
    ask = partial(fit, k=3, epsilon=1.0, bounds=(-1, 1), **settings_of(algorithm))
    found = []
    for order in (np.argsort(rows[:, 0]), np.argsort(-rows[:, 0])):
        with same_randomness(1):
            found.append(ask(rows[order]).to_json())
    assert found[0] == found[1]
