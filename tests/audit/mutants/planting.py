"""Planting a privacy bug in the library, and taking it out again.

A mutant is a few words of the library's own source replaced by other words. The function's code is compiled anew and
put in place of the old one, so that everybody who holds the function has the bug, wherever they imported it from.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from types import FunctionType
from typing import Any

import pytest

ANNOTATIONS = __future__.annotations.compiler_flag


@dataclass(frozen=True)
class Edit:
    """Words of one function, and what the mutant has in their place. `where` is "module:name", without "covey."."""

    where: str
    words: dict[str, str]

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        function = find(self.where)
        patch.setattr(function, "__code__", rewritten(function, self.words).__code__)

    @property
    def file(self) -> str:
        return self.where.partition(":")[0].replace(".", "/") + ".py"

    @property
    def name(self) -> str:
        return self.where.partition(":")[2]


@dataclass(frozen=True)
class Mutant:
    """One planted bug.

    bug : what is broken, in plain words. edits : where and how. killer : the test that must fail, "file::test" below
    tests/, with its parameters if only some of them can. dies_of : how it may fail besides a failed assertion.
    slow : too slow for every run.
    """

    name: str
    bug: str
    edits: tuple[Edit, ...]
    killer: str
    dies_of: tuple[str, ...] = ()
    slow: bool = False

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The library with the bug."""
        forget()
        with pytest.MonkeyPatch.context() as patch:
            for edit in self.edits:
                edit.plant(patch)
            yield
        forget()


def mutant(
    name: str,
    bug: str,
    where: str,
    words: dict[str, str],
    *,
    killer: str,
    also: dict[str, dict[str, str]] | None = None,
    dies_of: tuple[str, ...] = (),
    slow: bool = False,
) -> Mutant:
    """A mutant of one function, and of those in `also`."""
    edits = (Edit(where, words), *(Edit(each, edit) for each, edit in (also or {}).items()))
    return Mutant(name, bug, edits, killer, dies_of, slow)


def find(where: str) -> FunctionType:
    """The plain function behind "module:name": properties, class methods and caches are looked through."""
    module, _, path = where.partition(":")
    thing: Any = importlib.import_module(f"covey.{module}")
    for name in path.split("."):
        thing = inspect.getattr_static(thing, name)
    for inner in ("fget", "func", "__func__", "__wrapped__"):
        thing = getattr(thing, inner, None) or thing
    if not isinstance(thing, FunctionType):
        raise LookupError(f"{where} is not a function")
    return thing


def rewritten(function: FunctionType, words: dict[str, str]) -> FunctionType:
    """A function with some of its words replaced; each must occur exactly once."""
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in words.items():
        if source.count(old) != 1:
            raise LookupError(f"{function.__qualname__} holds {source.count(old)} times: {old!r}")
        source = source.replace(old, new)
    return recompiled(function, source)


def recompiled(function: FunctionType, source: str) -> FunctionType:
    """What a function would be with another source."""
    tree = ast.parse(source)
    tree.body[0].decorator_list.clear()  # type: ignore[attr-defined]
    if function.__code__.co_freevars == ("__class__",):  # a method that calls super()
        tree = ast.parse("def outside():\n    __class__ = None\n    def inside(): pass\n    return inside")
        tree.body[0].body[1] = ast.parse(source).body[0]  # type: ignore[attr-defined]
        tree.body[0].body[1].decorator_list.clear()  # type: ignore[attr-defined]
        tree.body[0].body[2].value.id = function.__name__  # type: ignore[attr-defined]
    ast.fix_missing_locations(tree)
    compiled = compile(tree, f"<mutant of {function.__qualname__}>", "exec", flags=ANNOTATIONS, dont_inherit=True)
    made: dict[str, Any] = {}
    exec(compiled, function.__globals__, made)
    new = made["outside"]() if "outside" in made else made[function.__name__]
    if new.__code__.co_freevars != function.__code__.co_freevars:
        raise LookupError(f"{function.__qualname__} belongs to another function")
    return new


def forget() -> None:
    """Empty every cache of the library: none may hold a number of the other version."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "covey":
            for thing in list(vars(module).values()):
                if isinstance(thing, _lru_cache_wrapper):
                    thing.cache_clear()
