"""Making mutants from the syntax tree of the code that privacy rests on.

Nine kinds of change, each of one place: a constant by one or by 3%, a comparison, a dropped term, swapped branches,
swapped or dropped arguments, a field left out, a key, coin or amount taken from another place, state that is kept or
reset, and a check left out. Words of errors, annotations and docstrings are left alone.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from mutants.planting import find, forget, recompiled

SOURCE = Path(__file__).parents[3] / "src" / "covey"
FOLDERS = ("private/", "noise/", "queries/", "budget/", "fit/", "algorithms/", "studio/guard.py")
ON_SPARK = ("private/engines/spark.py", "private/tables/spark.py", "private/narrowed/spark.py")  # in its workers
SILENT = ("__repr__", "__str__")
OPPOSITES = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn))
TURNED = {one: other for pair in OPPOSITES for one, other in (pair, pair[::-1])}
ANY_ORDER = ("min", "max", "isinstance")
EITHER_WAY = (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd)

Function = ast.FunctionDef
Kinds = dict[str, str | None]  # the types of arguments
Spot = tuple[Any, str, int | None]  # a node, its field, and the place in it if that is a list
Change = tuple[str, Spot, Any, ast.AST, str]  # kind, where, what comes there, what stood there, how it is shown


@dataclass(frozen=True)
class Made:
    """One mutant. `where` is "module:name" without "covey.", and `line` is where the change stands."""

    where: str
    kind: str
    line: int
    before: str
    after: str
    nth: int  # of changes that look alike in one function
    source: str  # of the whole function, or of the constant

    @property
    def file(self) -> str:
        return self.where.partition(":")[0].replace(".", "/") + ".py"

    @property
    def id(self) -> str:
        """The same as long as the words of the change are: lines may move."""
        words = "|".join((self.where, self.kind, self.before, self.after, str(self.nth)))
        return hashlib.sha256(words.encode()).hexdigest()[:8]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The library with the bug."""
        forget()
        with pytest.MonkeyPatch.context() as patch:
            if _is_constant(self.where.partition(":")[2]):
                _plant_constant(self, patch)
            else:
                function = find(self.where)
                new = recompiled(function, self.source)
                for name in ("__code__", "__defaults__", "__kwdefaults__"):
                    patch.setattr(function, name, getattr(new, name))
            yield
        forget()


def _is_constant(name: str) -> bool:
    return name.lstrip("_").isupper()


def _plant_constant(made: Made, patch: pytest.MonkeyPatch) -> None:
    """Everybody who imported the constant has the new one."""
    module, _, name = made.where.partition(":")
    scope = vars(sys.modules[f"covey.{module}"])
    old, new = scope[name], eval(made.source.partition(" = ")[2], dict(scope))
    for each in list(sys.modules.values()):
        if getattr(each, "__name__", "").startswith("covey") and vars(each).get(name) is old:
            patch.setattr(each, name, new)


def pool() -> list[Made]:
    """All mutants of all files."""
    return [made for file in files() for made in mutants_of(file)]


def files() -> list[str]:
    """The files whose mutants are made, below src/covey."""
    paths = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    return sorted(path for path in paths if path.startswith(FOLDERS) and path not in ON_SPARK)


def sample(pool: list[Made], many: int, seed: int) -> list[Made]:
    """So many mutants, of each kind the same number while there are some.

    Which ones is decided by a hash of the seed and the mutant: code that is added or moved changes few of them.
    """
    kinds = sorted({made.kind for made in pool})
    piles = {
        kind: sorted((made for made in pool if made.kind == kind), key=lambda made: _lot(seed, made)) for kind in kinds
    }
    turns = (piles[kind][row] for row in range(len(pool)) for kind in kinds if row < len(piles[kind]))
    return list(islice(turns, many))


def _lot(seed: int, made: Made) -> bytes:
    return hashlib.sha256(f"{seed} {made.id}".encode()).digest()


@cache
def mutants_of(file: str) -> tuple[Made, ...]:
    """All mutants of one file."""
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    module = file.removesuffix(".py").replace("/", ".")
    found: list[Made] = []
    for name, node in _functions(tree.body):
        if not name.endswith(SILENT):
            found += _made(f"{module}:{name}", node, _changes(node))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_constant(node.targets[0].id):
            found += _made(f"{module}:{node.targets[0].id}", node, _constants(node))
    return tuple(found)


def _functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not _overloaded(node):
            yield prefix + node.name, node


def _overloaded(node: Function) -> bool:
    return any("overload" in ast.unparse(each) or ".setter" in ast.unparse(each) for each in node.decorator_list)


def _made(where: str, node: Any, changes: Iterator[Change]) -> Iterator[Made]:
    whole, seen = ast.unparse(node), dict[tuple[str, str, str], int]()
    first = min((each.lineno for each in getattr(node, "body", ()) if not _words(each)), default=0)
    for kind, (parent, field, at), new, old, after in list(changes):
        held = getattr(parent, field)
        setattr(parent, field, new if at is None else _put(held, at, new))
        source = ast.unparse(ast.fix_missing_locations(node))
        setattr(parent, field, held)
        before = ast.unparse(old)
        key = (kind, before, after)
        if source != whole:
            seen[key] = seen.get(key, -1) + 1
            line = max(getattr(old, "lineno", 0), first)  # a default belongs to the body
            yield Made(where, kind, line, before, after, seen[key], source)


def _put(held: list[Any], at: int, new: Any) -> list[Any]:
    """A list with one of its members replaced, or left out."""
    return held[:at] + ([] if new is None else [new]) + held[at + 1 :]


def _walk(node: ast.AST) -> Iterator[tuple[ast.AST, Spot | None]]:
    """Every node that may be changed, with the place where it stands."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "exc", "cause", "type_comment"):
            continue
        for at, each in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(each, ast.AST) or isinstance(each, ast.JoinedStr) or _words(each):
                continue
            yield each, (node, field, at)
            yield from _walk(each)


def _words(node: ast.AST) -> bool:
    """A docstring, or a warning."""
    if not isinstance(node, ast.Expr):
        return False
    return isinstance(node.value, ast.Constant) or "warn" in ast.unparse(node.value)[:16]


def _constants(node: ast.AST) -> Iterator[Change]:
    for each, spot in _walk(node):
        if spot is not None and isinstance(each, ast.Constant):
            yield from _constant(each, spot)


def _constant(node: ast.Constant, spot: Spot) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield _changed("constant", spot, node, ast.Constant(not value))
    elif isinstance(value, int):
        yield _changed("constant", spot, node, ast.Constant(value + 1))
        if value > 33:
            yield _changed("constant", spot, node, ast.Constant(value * 103 // 100))
    elif isinstance(value, float):
        yield _changed("constant", spot, node, ast.Constant(value * 1.03))


def _changed(kind: str, spot: Spot, old: ast.AST, new: ast.AST | None) -> Change:
    return kind, spot, new, old, "" if new is None else ast.unparse(ast.fix_missing_locations(new))


def _changes(function: Function) -> Iterator[Change]:
    yield from _constants(function)
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    own = {each.arg: each.annotation and ast.unparse(each.annotation) for each in given}
    fields = sorted({ast.unparse(each) for each, _ in _walk(function) if _is_field(each)})
    for node, spot in _walk(function):
        assert spot is not None
        if isinstance(node, ast.Compare):
            for at, op in enumerate(node.ops):
                new = ast.Compare(node.left, _put(node.ops, at, TURNED[type(op)]()), node.comparators)
                yield _changed("comparison", spot, node, new)
        elif isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
            yield from (_changed("term", spot, node, new) for new in _fewer(node))
        elif isinstance(node, ast.IfExp):
            yield _changed("branch", spot, node, ast.IfExp(node.test, node.orelse, node.body))
        elif isinstance(node, ast.If | ast.While):
            yield _negated(node)
        elif isinstance(node, ast.Dict) and len(node.keys) > 1:
            for at in range(len(node.keys)):
                fewer = ast.Dict(node.keys[:at] + node.keys[at + 1 :], node.values[:at] + node.values[at + 1 :])
                yield _changed("field", spot, node, fewer)
        elif isinstance(node, ast.Tuple | ast.List) and len(node.elts) > 2 and _is_display(node, spot):
            for at in range(len(node.elts)):
                yield _changed("field", spot, node, type(node)(_put(node.elts, at, None), ast.Load()))
        elif isinstance(node, ast.Call):
            yield from _called(node, spot, own, fields)
        elif isinstance(node, ast.stmt):
            yield from _statement(node, spot)


def _is_display(node: ast.Tuple | ast.List, spot: Spot) -> bool:
    return isinstance(node.ctx, ast.Load) and not isinstance(spot[0], ast.Subscript)


def _is_field(node: ast.AST) -> bool:
    """Something of the object's own that is read."""
    of_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return of_self and isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]


def _negated(node: Any) -> Change:
    """The test of a branch turned round."""
    spot = (node, "test", None)
    return _changed("branch", spot, node.test, ast.UnaryOp(ast.Not(), node.test))


def _fewer(node: ast.BinOp | ast.BoolOp | ast.UnaryOp) -> Iterator[ast.expr]:
    """The same with a term less."""
    if isinstance(node, ast.BoolOp):
        for at in range(len(node.values)):
            rest = _put(node.values, at, None)
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp):
        if not isinstance(node.operand, ast.Constant):
            yield node.operand
    elif not any(_text(each) for each in (node.left, node.right)):
        yield node.left
        if isinstance(node.op, EITHER_WAY):
            yield node.right


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _called(node: ast.Call, spot: Spot, own: Kinds, fields: list[str]) -> Iterator[Change]:
    """Arguments swapped, left out, or taken from another place."""
    args, words = node.args, node.keywords
    plain = not any(isinstance(each, ast.Starred) for each in args)
    called = ast.unparse(node.func)
    for at in range(len(args) - 1) if plain and called not in ANY_ORDER else ():
        swapped = [*args[:at], args[at + 1], args[at], *args[at + 2 :]]
        yield _changed("argument", spot, node, ast.Call(node.func, swapped, words))
    for at, word in enumerate(words):
        yield _changed("argument", spot, node, ast.Call(node.func, args, _put(words, at, None)))
        if at and word.arg and words[at - 1].arg:
            pair = [ast.keyword(words[at - 1].arg, word.value), ast.keyword(word.arg, words[at - 1].value)]
            swapped = [*words[: at - 1], *pair, *words[at + 1 :]]
            yield _changed("argument", spot, node, ast.Call(node.func, args, swapped))
    for at in range(len(args)) if called in ("min", "max") and len(args) > 1 and plain else ():
        rest = _put(args, at, None)
        yield _changed("term", spot, node, rest[0] if len(rest) == 1 else ast.Call(node.func, rest, words))
    yield from _from_elsewhere(node, own, fields)


def _from_elsewhere(node: ast.Call, own: Kinds, fields: list[str]) -> Iterator[Change]:
    """Another argument of the function of the same type, or another field of its object, in the place of one."""
    places: list[tuple[Any, str, int | None, ast.expr]] = [
        *((node, "args", at, each) for at, each in enumerate(node.args)),
        *((word, "value", None, word.value) for word in node.keywords),
    ]
    for nth, (parent, field, at, each) in enumerate(places, 1):
        text = ast.unparse(each)
        names = fields if text in fields else [name for name, kind in own.items() if kind and kind == own.get(text)]
        if text in names and len(names) > 1:
            other = names[(names.index(text) + 1) % len(names)]
            new: Any = ast.parse(other, mode="eval").body
            yield "place", (parent, field, at), new, node, f"{other} for {text} in argument {nth}"


def _statement(node: ast.stmt, spot: Spot) -> Iterator[Change]:
    """State kept or reset, and checks left out."""
    if isinstance(node, ast.Raise):
        yield "check", spot, ast.Pass(), node, "pass"
    elif isinstance(node, ast.AugAssign):
        yield "state", spot, ast.Pass(), node, "pass"
        yield _changed("state", spot, node, ast.Assign([node.target], node.value, lineno=node.lineno))
    elif isinstance(node, ast.Assign | ast.Expr):
        kept = node.targets[0] if isinstance(node, ast.Assign) else node.value
        if isinstance(kept, ast.Attribute | ast.Subscript | ast.Call):
            yield "state", spot, ast.Pass(), node, "pass"
