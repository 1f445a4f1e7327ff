"""What all tests share: a table that records whether it was read, engines over any rows, and a quick curator."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from covey.algorithms.registry import ALGORITHMS
from covey.budget.accounting.plan import Plan, Reserve
from covey.budget.accounting.promise import Kind, Promise
from covey.budget.ledger.ledger import Ledger
from covey.noise.source import OsSource, SeededSource, Source
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours, resolve_bounds
from spark_session import spark  # noqa: F401

SLOWLY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("explore", deadline=None, suppress_health_check=SLOWLY)  # new examples each time
settings.register_profile("covey", settings.get_profile("explore"), derandomize=True)  # what fails, fails again
settings.load_profile("covey")

ONCE = re.compile(r'scope="module"|^from studio_page', re.MULTILINE)  # files that make something for all their tests


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """What is made once is made by one worker: tests named after Spark, which start one JVM, files with fixtures of
    their own, and the cases of a test stay together. The largest of these units come first.

    The marks `xdist_group` would say so, but from pytest 9.2 on they are ignored without a word (pytest-xdist #1386).
    """
    if config.getoption("dist") not in ("load", "loadgroup"):
        return None
    from xdist.scheduler import LoadScopeScheduling

    @cache
    def whole(file: str) -> bool:
        return ONCE.search((config.rootpath / file).read_text(encoding="utf-8")) is not None

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if "spark" in nodeid.lower():
                return "spark"
            file = nodeid.partition("::")[0]
            return file if whole(file) else nodeid.partition("[")[0]

    return Scheduling(config, log)


def settings_of(
    algorithm: str, *, d: int = 2, k: int = 3, edge: float = 1.0, neighbours: str = "add-remove"
) -> dict[str, object]:
    """What an algorithm needs to run on any data of d columns: a delta, or parameters of its own; or a skipped test."""
    row, corner = ALGORITHMS[algorithm], np.full(d, edge)
    if neighbours not in row.neighbours:
        pytest.skip(f"{algorithm} is not for {neighbours}")
    if row.most_columns is not None and d > row.most_columns:
        pytest.skip(f"{algorithm} refuses {d} columns")
    own = {**row.few_rows, **row.needs(-corner, corner, k, np.random.default_rng(0))}
    return {
        "algorithm": algorithm,
        "delta": 1e-6 if row.guarantee == "approximate" else None,
        "algorithm_params": own or None,
    }


class WatchedTable(ArrayTable):
    """A table that knows whether anybody asked for its rows; with `broken`, asking is an error."""

    def __init__(self, rows: object, *, broken: bool = False) -> None:
        super().__init__(rows)
        self.read = 0
        self.broken = broken

    def pieces(self, columns: Sequence[str] | None) -> Iterator:
        self.read += 1
        if self.broken:
            raise AssertionError("rows were read")
        return super().pieces(columns)


def make_curator(
    rows: object,
    *,
    domain: Domain | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    epsilon: Fraction = Fraction(1),
    delta: Fraction = Fraction(0),
    source: Source | None = None,
    seed: int | None = None,
    plan: Plan | None = None,
    charge=lambda: None,
    table: ArrayTable | None = None,
) -> Curator:
    """A curator of an array's rows, without estimator or ledger; with `plan`, reserved."""
    table = table if table is not None else ArrayTable(np.asarray(rows))
    domain = domain or resolve_bounds((-1, 1), names=None, width=table.width)
    if source is None:
        source = OsSource() if seed is None else SeededSource(seed)
    curator = Curator(
        MemoryEngine(table, domain),
        domain=domain,
        source=source,
        reserve=Reserve(Promise.of(epsilon, delta, kind=Kind(neighbours))),
        charge=charge,
    )
    if plan is not None:
        curator.reserve(plan)
    return curator


def charges(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What ledgers are asked for from now on."""
    asked: list[str] = []
    charge = Ledger.charge

    def noted(self, name, promise, **rest):
        asked.append(name)
        return charge(self, name, promise, **rest)

    monkeypatch.setattr(Ledger, "charge", noted)
    return asked


def in_this_process(tasks, *, work, store, report):
    """A bench's `run_tasks` without processes, whose start takes longer; test_bench_su16.py has those."""
    sent = pickle.loads(pickle.dumps(work))
    for task in tasks:
        if task.key not in store.answers:
            store.add(task, sent(task), 1.0)


@pytest.fixture
def curator_of():
    """The function `make_curator`."""
    return make_curator


@pytest.fixture
def watched():
    """The class `WatchedTable`."""
    return WatchedTable


@pytest.fixture
def blobs() -> np.ndarray:
    """600 rows in three round groups in [-1, 1]²."""
    rng = np.random.default_rng(3)
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    return middles[rng.integers(0, 3, 600)] + rng.normal(0, 0.08, (600, 2))


@pytest.fixture(scope="session")
def nursery() -> Iterator:
    """A process that forks children on a disk that fails: for tests/faults, whose folder is then on the path."""
    from children import Nursery, missing

    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with Nursery() as process:
        yield process
