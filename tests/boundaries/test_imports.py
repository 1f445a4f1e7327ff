"""Who may import whom, read from the syntax tree. The checker itself is tested on source that breaks each rule."""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import covey

PUBLIC = tuple(covey.__all__)
PACKAGE = Path(covey.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
LAYERS = {  # an import goes down: to a lower number, or to a file of its own folder
    "geo": 1,
    "noise": 1,
    "budget": 1,
    "post": 1,
    "queries": 2,
    "published": 3,
    "private": 4,
    "algorithms": 5,
    "fit": 6,
    "theory": 6,
    "audit": 7,
    "bench": 7,
    "studio": 7,
    "cli": 8,
    "estimators": 9,  # public names, like the doorways
}
BASE = ("errors", "events", "checks", "public", "text", "files", "terminal")  # layer 0, in this order
DOORWAYS = ("__init__", "__main__", "levels", "limits", "group")  # layer 9: public names
LAZY = {  # public names whose body works with what is above them
    ("geo/__init__.py", "covey.fit.node"),  # reads rows
    ("published/release.py", "covey.fit.rehearse"),  # runs a fit again on made-up rows
    ("published/release.py", "covey.fit.assign"),  # looks at the caller's own rows
    ("published/release.py", "covey.fit.profile"),  # asks rows a question of its own, and pays
    ("published/release.py", "covey.fit.score"),  # the same
}
LIBRARIES = {  # a library of rows: the files that may import it
    "pandas": ("private/pandas.py", "published/frame.py"),
    "polars": ("private/polars.py",),
    "pyspark": ("private/tables/spark.py", "private/engines/spark.py", "private/narrowed/spark.py"),
    "python_calamine": ("private/tables/excel.py",),
    "pyogrio": ("private/tables/geography.py", "published/geopackage.py"),
    "duckdb": (),
    "pyarrow": (
        "private/tables/files.py",
        "private/tables/arrow.py",
        "private/tables/csv/reader.py",
        "private/tables/json/reader.py",
        "private/tables/folders.py",
        "private/tables/dates.py",
        "private/tables/coded.py",
        "private/tables/ids.py",
        "private/narrowed/names.py",
        "private/narrowed/cap.py",
        "private/tables/spark.py",
        "private/engines/spark.py",
        "private/narrowed/spark.py",
        "private/tables/excel.py",
        "private/tables/frames.py",
        "private/tables/kept.py",
        "private/tables/one_file.py",
        "private/tables/geography.py",
        "private/tables/late.py",
        "private/tables/points.py",
        "private/tables/whose.py",
        "private/tables/text.py",
        "private/assigned.py",
        "published/coreset/files.py",
        "published/geopackage.py",
        "bench/sets.py",
    ),
}
RANDOM = ("random", "numpy.random", "secrets")
MAY_DRAW = ("noise/source.py", "post/")
BENCH = "bench/"  # public benchmark sets only: it measures what the door adds, and so looks behind it


def imported(tree: ast.AST, file: str) -> Iterator[tuple[int, str]]:
    """(line, full name) of everything imported: `from a import b` gives a and a.b."""
    package = ["covey", *Path(file).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = dotted(node.func).rpartition(".")[2]
            yield from [(node.lineno, str(node.args[0].value))] * (called in ("import_module", "__import__"))


@cache
def tree_of(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text())


def dotted(node: ast.AST) -> str:
    """a.b.c of an attribute chain; empty parts where it is anything else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def within(name: str, roots: tuple[str, ...]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


def used_at_runtime(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every attribute chain outside annotations."""
    annotations: set[int] = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            part = getattr(node, field, None)
            if isinstance(part, ast.AST):
                annotations.update(id(each) for each in ast.walk(part))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in annotations:
            yield node.lineno, dotted(node)


DOOR = ("covey.private.curator",)


def layer(name: str) -> tuple[str, float]:
    """The folder, or file of the root, that a full name belongs to, and its layer."""
    top = name.split(".")[1] if "." in name else "__init__"
    if top in LAYERS:
        return top, LAYERS[top]
    if top in BASE:
        return top, BASE.index(top) / 10
    return top, 10 if top == "__init__" else 9


def goes_down(file: str, name: str) -> bool:
    """Whether a file may import a name of the package; names of others are not judged here."""
    if (
        not within(name, ("covey",))
        or name == "covey"
        or (file, name.rpartition(".")[0]) in LAZY
        or (file, name) in LAZY
    ):
        return True
    if name.split(".")[1] in ("__version__", *PUBLIC):  # from covey import KMeans: as a user would
        return layer(as_module(file))[1] >= 7 or name == "covey.__version__"
    here, mine = layer(as_module(file))
    there, theirs = layer(name)
    return here == there or theirs < mine


def as_module(file: str) -> str:
    return "covey." + file.removesuffix(".py").replace("/", ".")


def violations(tree: ast.AST, file: str) -> list[str]:
    """Every broken rule of a file of the package, as text."""
    found = []

    def broken(line: int, what: str) -> None:
        found.append(f"{file}:{line}: {what}")

    for line, name in imported(tree, file):
        if not goes_down(file, name):
            broken(line, f"imports {name}, which is not below it")
        if file.startswith("algorithms/") and within(name, ("covey.private",)) and not within(name, DOOR):
            broken(line, f"imports {name}: an algorithm knows the curator alone")
        for library, homes in LIBRARIES.items():
            if within(name, (library,)) and file not in homes:
                broken(line, f"imports {library}")
        if within(name, RANDOM) and not file.startswith(MAY_DRAW):
            broken(line, f"imports {name}")
        foreign = not within(name, ("covey", "__future__"))
        if foreign and any(part.startswith("_") for part in name.split(".")):
            broken(line, f"imports the private name {name}")
    for line, chain in used_at_runtime(tree):
        if chain.startswith(("np.random", "numpy.random")) and not file.startswith(MAY_DRAW):
            broken(line, f"uses {chain}")
    return found


@pytest.mark.parametrize("file", FILES)
def test_every_file_keeps_to_its_folder(file):
    assert violations(tree_of(file), file) == []


def test_the_root_and_its_folders_are_these():
    """A new file of the root, or a new folder, is a decision: it gets a line here, and a layer."""
    found = {path.stem for path in PACKAGE.glob("*.py")}
    assert found == {*BASE, *DOORWAYS}
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(LAYERS)


@pytest.mark.parametrize("folder", sorted({PACKAGE, *(path.parent for path in PACKAGE.rglob("*.py"))}))
def test_files_of_one_family_have_a_folder(folder):
    """Two files x_a.py and x_b.py are a folder x."""
    stems = {path.stem for path in folder.glob("*.py")}
    families = {stem: sorted(each for each in stems if each.startswith(f"{stem}_")) for stem in stems}
    assert {stem: more for stem, more in families.items() if more} == {}
    heads = [stem.partition("_")[0] for stem in stems if "_" in stem.strip("_") and not stem.startswith("_")]
    assert sorted({head for head in heads if heads.count(head) > 1}) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("queries/bad.py", "from covey.noise.mechanisms import DiscreteLaplace\nfrom covey.private import lattice"),
        ("queries/bad.py", "from covey import private"),
        ("noise/bad.py", "from ..budget.accounting import plan"),
        ("noise/bad.py", "import covey.queries.counts"),
        ("noise/bad.py", "def f():\n    from covey.budget.accounting.plan import Plan"),
        ("budget/bad.py", "from covey.private.curator import Curator"),
        ("budget/ledger/bad.py", "from covey.post.kmeans import weighted_kmeans"),
        ("published/bad.py", "from covey.private.lattice import to_lattice"),
        ("published/coreset/bad.py", "from covey.algorithms.registry import find"),
        ("algorithms/bad.py", "from covey.private.engines.memory import MemoryEngine"),
        ("algorithms/bad.py", "from covey.private.owner import OwnersView"),
        ("algorithms/bad.py", "from covey.private import tables"),
        ("algorithms/bad.py", "from importlib import import_module\nimport_module('covey.private.engines.base')"),
        ("algorithms/bad.py", "from covey.fit.session import Session"),
        ("private/bad.py", "from covey.fit.fit import fit"),
        ("post/bad.py", "from covey.queries.voronoi import nearest"),
        ("post/bad.py", "from covey.noise.source import OsSource"),
        ("theory/bad.py", "from covey.fit.fit import fit"),
        ("studio/bad.py", "from covey.bench.sets import read"),
        ("errors.py", "from covey.events import exactly"),
        ("public.py", "from covey.text import printable"),
        ("private/bad.py", "from covey import KMeans"),
        ("fit/fit.py", "import pandas as pd"),
        ("private/engines/memory.py", "from polars import DataFrame"),
        ("private/engines/memory.py", "import pyarrow"),
        ("fit/fit.py", "import pyspark.sql"),
        ("private/curator.py", "import secrets"),
        ("noise/laplace.py", "from random import random"),
        ("noise/laplace.py", "from numpy.random import default_rng"),
        ("noise/laplace.py", "from numpy import random"),
        ("queries/bad.py", "import numpy as np\nx = np.random.normal()"),
        ("estimators/base.py", "from sklearn.utils._param_validation import Interval"),
        ("estimators/base.py", "from sklearn.cluster import _kmeans"),
    ],
)
def test_the_checker_can_fail(file, source):
    assert violations(ast.parse(source), file)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("algorithms/good.py", "from covey.private.curator import Curator"),
        ("algorithms/good.py", "import numpy as np\ndef f(rng: np.random.Generator) -> np.random.Generator: ..."),
        ("post/good.py", "import numpy as np\nrng = np.random.default_rng(1)"),
        ("noise/source.py", "import secrets"),
        ("private/tables/files.py", "import pyarrow.parquet as pq"),
        ("estimators/base.py", "from covey.fit.request import _plain"),
    ],
)
def test_the_checker_does_not_cry_wolf(file, source):
    assert violations(ast.parse(source), file) == []


def called(tree: ast.AST) -> set[str]:
    """The last names of everything that is called: Curator of Curator(...) and curator.Curator(...)."""
    return {dotted(node.func).rpartition(".")[2] for node in ast.walk(tree) if isinstance(node, ast.Call)}


def opens(tree: ast.AST) -> set[str]:
    """What of a door is made here: curators, and engines of tables."""
    return called(tree) & {"Curator", "engine", "people", "RowCount", "MemoryEngine", "StreamEngine", "SparkEngine"}


def test_only_the_session_makes_a_curator_or_opens_an_engine():
    """Of all that is not behind the door itself; the benchmarks measure what the door adds, on public sets."""
    makers = {file: opens(tree_of(file)) for file in FILES if not file.startswith(("private/", BENCH))}
    makers = {file: made for file, made in makers.items() if made}
    assert set(makers) == {"fit/session.py", "fit/cap.py"}
    assert makers["fit/cap.py"] == {"people"}  # session.people: its own door, of the session


@pytest.mark.parametrize(
    "source",
    [
        "from covey.private import curator\ncurator.Curator(None)",
        "table.engine('auto', domain)",
        "def f():\n    return MemoryEngine(table, domain)",
    ],
)
def test_whoever_else_opens_a_door_is_noticed(source):
    assert opens(ast.parse(source))


def test_exact_statistics_are_asked_for_behind_the_door_only():
    asks = (".total(", ".totals_by_key(", ".block_outputs(", ".accumulate(")
    askers = [file for file in FILES if any(ask in (PACKAGE / file).read_text() for ask in asks)]
    assert "private/curator.py" in askers
    wraps = ("queries/zoned.py",)  # a query that asks another, when it is asked
    assert [file for file in askers if not file.startswith(("private/", BENCH, *wraps))] == []


def test_nobody_depends_on_the_benchmarks_but_the_command_line():
    users = [file for file in FILES if any(within(name, ("covey.bench",)) for _, name in imported(tree_of(file), file))]
    assert [file for file in users if not file.startswith(BENCH) and not file.startswith("cli")] == []


needs_cli = pytest.mark.skipif(not (PACKAGE / "cli/main.py").exists(), reason="no command line yet")


def test_an_estimator_is_imported_without_what_a_fit_works_with():
    script = (
        "import sys, covey; covey.KMeans, covey.PrivateCoreset; "
        "print(sorted({m.split('.')[1] for m in sys.modules if m.startswith('covey.')}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(done.stdout)) == {"checks", "errors", "estimators", "events", "public", "terminal"}


@needs_cli
def test_the_command_line_loads_no_numpy():
    script = "import sys, covey.cli.main; print([m for m in ('numpy', 'sklearn', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@needs_cli
def test_the_command_line_starts_at_once():
    """In less than 0.3 s, or than 25 starts of Python itself where those take longer; the best of some tries."""

    def seconds(script: str) -> float:
        """Processor time, so that a busy machine cannot fail the test."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", script], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert any(seconds("import covey.cli.main") < max(0.3, 25 * seconds("pass")) for _ in range(10))
