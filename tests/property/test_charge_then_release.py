"""After a charge there is a release, and it can be got again; what is refused is refused before, whatever the rows.

Every algorithm and every method of a coreset, both relations and objectives, few and many columns, rows and centres,
extreme amounts and scales, rows moved to the middle or left out, a caller who turned numpy's warnings into errors, and
a ledger that cannot grow.
"""

from __future__ import annotations

import random
import resource
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from covey import KMeans, PrivateCoreset
from covey.algorithms.coreset_methods import METHODS
from covey.algorithms.registry import ALGORITHMS
from covey.budget.ledger.ledger import Ledger
from covey.errors import LedgerError, ParameterError
from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from covey.noise.source import SeededSource
from covey.private.narrowed.missing import MISSING
from covey.public import Ball, Box
from covey.published.levels.files import to_json

SUBJECTS = [(name, None) for name in ALGORITHMS] + [(name, method) for method, name in METHODS.items()]
COLUMNS = (1, 2, 3, 4, 5, 16, 32, 33, 34, 100, 1000)
CENTRES = (1, 2, 15, 100, 1000)
EPSILONS = (1e-6, 1e-3, 0.1, 1.0, 20.0, 1e4)
DELTAS = (None, 1e-6, 1e-15, 0.1)
COARSE = 10_000.0
TIMES = (1.0, 0.3, 2.0**-16)  # that a column counts, next to one that counts 1
QUICK = {"starts": 1, "candidates": 10, "parents": 2, "most_rounds": 8, "dimensions": 2, "swaps": 2}  # where they exist

Case = dict[str, Any]


def sample(*, times: int, seed: int, most: int, largest: int = 1000, coarse: bool = False) -> Iterator[Case]:
    """Every subject with all numbers of columns, `times` over, and other values in turns; k·d is at most `most`.

    `coarse`: at the largest epsilon a grid has thousands of cells, and not the sixteen million that it may have.
    """
    chooser = random.Random(seed)

    def turns(values: Any) -> Iterator[Any]:
        return cycle(chooser.sample(list(values), len(values)))

    for name, method in SUBJECTS:
        row = ALGORITHMS[name]
        relations, objectives, kinds = turns(row.neighbours), turns(row.objectives), turns(("even", "same", "wild"))
        epsilons, deltas, centres, sizes = turns(EPSILONS), turns(DELTAS), turns(CENTRES), turns(range(5))
        missing, counts = turns(MISSING), turns(TIMES)
        for d in COLUMNS * times:
            k = min(largest, next(each for each in centres if each * d <= max(most, d)))
            case = {
                "name": name,
                "method": method,
                "d": d,
                "k": k,
                "n": (0, 1, k - 1, k, 5000)[next(sizes)],
                "epsilon": next(epsilons),
                "delta": next(deltas) or (1e-6 if row.guarantee == "approximate" else None),
                "objective": next(objectives),
                "neighbours": str(next(relations)),
                "rows": next(kinds),
                "ball": chooser.random() < 0.2,
            }
            case["missing"] = next(missing) if case["neighbours"] == "add-remove" else "middle"
            case["theta"] = COARSE if coarse and case["epsilon"] == max(EPSILONS) else None
            case["scale"] = None if case["ball"] else [*(next(counts) for _ in range(d - 1)), 1.0]
            yield case


def cases(**of: Any) -> list[Any]:
    return [pytest.param(case, id="-".join(map(str, list(case.values())[:8]))) for case in sample(**of)]


def rows_of(case: Case) -> np.ndarray:
    shape = (case["n"], case["d"])
    if case["rows"] == "same":
        return np.full(shape, 0.3)
    rows = np.random.default_rng(1).uniform(-1, 1, shape)
    if case["rows"] == "wild":
        rows[: len(rows) // 3], rows[len(rows) // 2 :] = np.nan, np.inf
    return rows


def made(case: Case, rows: np.ndarray, ledger: Ledger) -> Any:
    """The release of a case, and for a method the coreset in it, which must be of use."""
    row, d, k = ALGORITHMS[case["name"]], case["d"], case["k"]
    own: dict[str, Any] = {name: value for name, value in QUICK.items() if name in row.parameters}
    own |= {"theta": case["theta"]} if case["theta"] and "theta" in row.parameters else {}
    corner = np.full(d, 0.9 / d**0.5)  # in the ball too
    own |= row.needs(-corner, corner, k, np.random.default_rng(0))
    shared = {name: case[name] for name in ("epsilon", "delta", "objective", "neighbours", "missing", "scale")}
    shared |= {"bounds": Ball(1.0) if case["ball"] else Box(*[(-1, 1)] * d), "ledger": ledger, "dataset": "data"}
    if case["method"] is None:
        return fit(rows, k=k, algorithm=row.name, algorithm_params=own or None, random_state=3, **shared)
    model = PrivateCoreset(k, method=case["method"], method_params=own or None, random_state=3, **shared).fit(rows)
    assert len(model.coreset_) >= 1
    assert 1 <= len(model.coreset_.reduce(2)) <= 2
    return model.release_


@contextmanager
def strict() -> Iterator[None]:
    """A caller for whom every floating-point event and every warning is an error."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def attempt(case: Case, ledger: Ledger) -> tuple[Any, ParameterError | None]:
    """The release, or the refusal; any other error is one of Covey's."""
    try:
        with strict():
            return made(case, rows_of(case), ledger), None
    except ParameterError as refusal:
        return None, refusal


def check(case: Case) -> None:
    book = Ledger.memory(neighbours=case["neighbours"]).with_key("key")
    release, refusal = attempt(case, book)
    if refusal is not None:
        assert book.verify().charges == 0, refusal
        for other in ({"n": 0}, {"n": 7, "rows": "wild"}, {"n": 300, "rows": "even"}):
            _, again = attempt({**case, **other}, book)
            assert again is not None
            assert (again.parameter, str(again)) == (refusal.parameter, str(refusal))
        return
    assert len(release.centres) == case["k"]
    assert made(case, rows_of(case), book).to_json() == release.to_json()
    report = book.verify()
    assert (report.charges, report.unfinished) == (1, 0)
    spent = book.datasets()["data"].spent
    assert (float(spent.epsilon), float(spent.delta)) == (release.certificate.epsilon, release.certificate.delta)


@pytest.mark.parametrize("case", cases(times=1, seed=1, most=1000, largest=300, coarse=True))
def test_after_a_charge_there_is_a_release_that_can_be_got_again(case):
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(times=2, seed=2, most=10_000))
def test_after_a_charge_there_is_a_release_that_can_be_got_again_at_length(case):
    check(case)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("exact-coreset", {"side": 16, "points": 4}),
        ("net-coreset", {"base": "net", "c": 30, "rounds": 10}),
        ("net-coreset", {"error": 0.05}),
        ("ball-coreset", {"side": 5000}),
        ("lloyd", {"rounds": 0}),
        ("grid", {"theta": 0.0}),
        ("grid", {"keep_synopsis": 1}),
        ("max-cover", {"growth": 0.05, "dimensions": 16}),
        ("jl-candidates", {"swaps": -1}),
        ("sites", {"sites": [[0.0] * 4]}),
    ],
)
def test_what_an_algorithm_refuses_is_refused_before_the_charge(name, own):
    book = Ledger.memory()
    given = {"k": 4, "epsilon": 1.0, "delta": 1e-6, "algorithm": name, "algorithm_params": own}
    texts = set()
    for n in (0, 3, 500):
        with pytest.raises(ParameterError) as refusal:
            fit(np.full((n, 4), np.nan), bounds=(-1, 1), ledger=book, dataset="data", **given)
        texts.add(str(refusal.value))
    assert len(texts) == 1
    assert book.verify().charges == 0


def test_strict_numpy_settings_are_not_in_force_behind_the_door():
    with strict():
        made = fit(np.zeros((9, 5)), k=2, epsilon=1.0, bounds=(-1, 1), random_state=3)
    assert made == fit(np.zeros((9, 5)), k=2, epsilon=1.0, bounds=(-1, 1), random_state=3)


def test_numpy_settings_of_a_callback_are_not_in_force_behind_the_door():
    rows = np.random.default_rng(0).normal(0, 0.2, (300, 2))

    def strict_from_now_on(*_: object) -> bool:
        np.seterr(all="raise")
        return False

    def levels(**more: Any) -> bytes:
        return to_json(fit_levels(rows, bounds=(-1, 1), random_state=3, **more))

    with np.errstate():  # whatever gets out
        for asked in ({"progress": strict_from_now_on}, {"cancelled": strict_from_now_on}):
            assert levels(**asked) == levels()
        kmeans = {"k": 3, "epsilon": 1.0, "bounds": (-1, 1), "random_state": 3}
        assert fit(rows, **kmeans, progress=strict_from_now_on) == fit(rows, **kmeans)


# --- a ledger that cannot be written ----------------------------------------------------------------------------------


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a full disk, no file can grow beyond this."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_a_full_disk_refuses_before_the_charge_or_hands_the_release_out(tmp_path, monkeypatch):
    """Page by page; the coreset's document is larger than all else that the ledger has to store."""
    model = PrivateCoreset(2, epsilon=0.5, bounds=(-1, 1), method="grid", dataset="data")
    monkeypatch.setattr("covey.fit.session.OsSource", lambda: SeededSource(3))  # a ledger file refuses a seed
    rows, ends = np.random.default_rng(0).uniform(-1, 1, (2000, 2)), []
    for limit in range(2048, 2**17, 4096):
        path = tmp_path / f"{limit}.ledger"
        ledger = Ledger.create(path, dataset="data", epsilon=1).with_key("monday")
        lost = None
        try:
            with files_of_at_most(limit):
                model.set_params(ledger=ledger).fit(rows)
        except LedgerError as error:
            lost = error
        paid = ledger.verify().charges
        ends.append("refused" if not paid else "stored" if lost is None else "handed out")
        assert (lost is None or lost.release is not None) == bool(paid)
        if lost is not None and paid:
            assert model.release_ is lost.release
            assert model.release_.synopsis.counts
        if lost is None:
            release = model.release_
            assert model.fit(rows).release_ == release
            assert (ledger.verify().charges, ledger.verify().unfinished) == (1, 0)
    assert sorted(ends, key=["refused", "handed out", "stored"].index) == ends
    assert set(ends) == {"refused", "handed out", "stored"}


def test_a_disk_without_room_for_a_release_is_refused_before_the_charge(tmp_path, monkeypatch):
    import covey.files as storage

    book = Ledger.create(tmp_path / "city.ledger", dataset="data", epsilon=1)
    monkeypatch.setattr(storage.os, "statvfs", lambda _: type("Disk", (), {"f_bavail": 7, "f_frsize": 4096})())
    with pytest.raises(LedgerError, match="no room for a release"):
        fit(np.zeros((5, 2)), k=2, epsilon=1, bounds=(-1, 1), ledger=book, dataset="data")
    assert book.verify().charges == 0


def test_what_is_no_longer_charged_is_not_handed_out(tmp_path, monkeypatch):
    """Somebody puts an old copy of the ledger back while the fit is at work."""
    path = tmp_path / "city.ledger"
    book = Ledger.create(path, dataset="data", epsilon=1)
    shutil.copy(path, tmp_path / "old")
    finish = Ledger.finish

    def after_the_swap(self: Ledger, *given: Any) -> Any:
        shutil.copy(tmp_path / "old", path)
        return finish(self, *given)

    monkeypatch.setattr(Ledger, "finish", after_the_swap)
    model = KMeans(2, epsilon=1, bounds=(-1, 1), ledger=book, dataset="data")
    with pytest.raises(LedgerError) as error:
        model.fit(np.zeros((5, 2)))
    assert error.value.release is None
    assert not hasattr(model, "release_")
