"""The table of algorithms. A new one is a file, a row here, and nothing else: contract and audit tests find it here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_type_hints

import numpy as np

from covey.algorithms.auto.auto import auto
from covey.algorithms.auto.auto import uses_delta as auto_uses_delta
from covey.algorithms.ball_coreset import ball_coreset
from covey.algorithms.ball_coreset import uses_delta as balls_use_delta
from covey.algorithms.blocks import blocks
from covey.algorithms.exact_coreset import exact_coreset
from covey.algorithms.genetic import genetic
from covey.algorithms.grid import grid
from covey.algorithms.hybrid import hybrid
from covey.algorithms.jl_candidates import jl_candidates
from covey.algorithms.jl_candidates import uses_delta as means_use_delta
from covey.algorithms.kit import Outcome
from covey.algorithms.lloyd import lloyd
from covey.algorithms.lloyd import uses_delta as lloyd_uses_delta
from covey.algorithms.max_cover import max_cover
from covey.algorithms.net_coreset import net_coreset
from covey.algorithms.sites import sites, some_sites
from covey.checks import Floats, Ranges
from covey.errors import ParameterError
from covey.private.curator import Curator
from covey.public import Neighbours

BOTH = (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)
SUPPLIED = {"k", "epsilon", "delta", "objective", "public_rng"}  # by every fit; the rest are the algorithm's own
FIT_NOTES = {"k", "algorithm_by", "choice", "composition", "how_many", "missing", "not_told", "people", "zones"}
FIT_NOTES |= {"sample", "bounds"}  # what a fit itself says in a certificate


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """One row: what it is called, what it promises, under which relations, where it runs, and who wrote it down.

    The last seven are what tests and audits must know to run an algorithm that they have never heard of.
    needs: parameters that it cannot run without, such as suit rows between the corners of a box, lower and upper.
    """

    name: str
    run: Callable[..., Outcome]
    summary: str
    paper: str
    origin: str = ""  # the package and version that it comes from, where it is not Covey's own
    guarantee: str = "pure"  # "pure": ε; "approximate": (ε, δ); "either": (ε, δ) if a delta is given, else ε
    objectives: tuple[str, ...] = ("k-means",)
    neighbours: tuple[Neighbours, ...] = BOTH
    engines: tuple[str, ...] = ("memory", "files", "spark")
    uses_delta: Callable[..., bool] | None = None  # of "either": whether, by what is public, any plan could use a delta
    with_delta: Mapping[str, Any] = field(default_factory=dict)  # of "either": parameters that ask for a delta
    most_columns: int | None = None  # that it takes with its defaults, for any k; None: any number
    sizes: bool = True  # whether noisy numbers of rows come with the centres, by default
    any_order: bool = True  # of the rows gives the same release, if the noise is the same
    needs: Callable[[Floats, Floats, int, np.random.Generator], dict[str, Any]] = lambda *_: {}  # lower, upper, k, rng
    few_rows: Mapping[str, Any] = field(default_factory=dict)  # parameters with which it does all its work on few rows
    variants: tuple[Mapping[str, Any], ...] = ({},)  # parameters that lead to other questions: an audit draws one
    add_remove_variants: tuple[Mapping[str, Any], ...] = ()  # of these, too, where rows are added or removed

    @cached_property
    def _takes(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.run).parameters

    @property
    def parameters(self) -> dict[str, Any]:
        """The algorithm's own parameters and their defaults."""
        own = self._takes.values()
        defaults = {each.name: each.default for each in own if each.default is not inspect.Parameter.empty}
        return {name: value for name, value in defaults.items() if name not in SUPPLIED}

    def supplied(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the values of SUPPLIED that the algorithm asks for."""
        return {name: values[name] for name in values if name in self._takes}

    @cached_property
    def ranges(self) -> dict[str, Ranges]:
        """What the algorithm's own parameters may be, from its signature; any that declares nothing may be anything."""
        hints = get_type_hints(self.run, include_extras=True)
        return {name: Ranges.of(hints[name]) for name in self.parameters if name in hints}

    def check_parameters(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as the algorithm takes them, or an error that names the first that is unknown or wrong."""
        for name in given:
            if name not in self.parameters:
                options = ", ".join(map(repr, self.parameters)) or "none"
                raise ParameterError("algorithm_params", f"{self.name!r} has no parameter {name!r}; it has {options}")
        ranges = self.ranges
        return {name: ranges[name].read(name, given[name]) if name in ranges else given[name] for name in given}

    def needs_delta(self, given: Mapping[str, Any]) -> bool:
        """Whether, with these parameters, it promises nothing without a delta."""
        asked = self.with_delta.items()
        return self.guarantee == "approximate" or any(given.get(name) == value for name, value in asked)

    def outcome(self, curator: Curator, values: Mapping[str, Any], own: Mapping[str, Any]) -> Outcome:
        """The algorithm at work: `values` of SUPPLIED, and its own parameters, which are checked first.

        What a fit itself says in a certificate, and the promise is worded by, no algorithm from outside says for it.
        """
        found = self.run(curator, **self.supplied(values), **self.check_parameters(own))
        if not self.origin:
            return found
        return replace(found, notes={name: note for name, note in found.notes.items() if name not in FIT_NOTES})


ALGORITHMS: dict[str, Algorithm] = {
    row.name: row
    for row in (
        Algorithm(
            name="auto",
            run=auto,
            summary="a private tree of boxes, clustered; refined where that pays",
            paper="Covey, on PrivTree (Zhang et al. 2016)",
            guarantee="either",
            objectives=("k-means", "k-median"),
            uses_delta=auto_uses_delta,
            variants=({}, {"keep_synopsis": True}),
        ),
        Algorithm(
            name="lloyd",
            run=lloyd,
            summary="rounds of noisy averaging",
            paper="DPLloyd (Su et al. 2016)",
            guarantee="either",
            uses_delta=lloyd_uses_delta,
            with_delta={"noise": "gaussian"},
            variants=({}, {"start": "uniform"}, {"shares": "increasing"}),
        ),
        Algorithm(
            name="grid",
            run=grid,
            summary="one noisy histogram, clustered",
            paper="EUGkM (Su et al. 2016)",
            objectives=("k-means", "k-median"),
            variants=({}, {"keep_synopsis": True}),
        ),
        Algorithm(
            name="blocks",
            run=blocks,
            summary="k-means in random blocks, averaged",
            paper="GkM, GkM-3K (Su et al. 2016)",
            engines=("memory", "files"),
            sizes=False,
            any_order=False,  # rows draw their coins in turn
            variants=({}, {"rule": "gkm"}),
        ),
        Algorithm(
            name="genetic",
            run=genetic,
            summary="a private genetic search",
            paper="PGkM (Su et al. 2016)",
            sizes=False,
            variants=({}, {"rate": 0.05, "least_rounds": 1, "most_rounds": 6}),  # the noisy number of rows sets rounds
        ),
        Algorithm(
            name="hybrid",
            run=hybrid,
            summary="a grid, then one noisy round",
            paper="Hybrid (Su et al. 2016)",
            variants=({}, {"rule": "printed"}),
        ),
        Algorithm(
            name="ball-coreset",
            run=ball_coreset,
            summary="a private coreset of small balls",
            paper="PRIVATE-K-MEAN (Feldman et al. 2017)",
            guarantee="either",
            objectives=("k-means", "k-median"),
            uses_delta=balls_use_delta,
            most_columns=16,
            few_rows={"too_few": "run"},
            variants=({}, {"rows_per_part": 30}, {"radius_method": "exponential"}, {"weights": "printed"}),
        ),
        Algorithm(
            name="net-coreset",
            run=net_coreset,
            summary="a private coreset of rings around private centres",
            paper="Private Coresets (Feldman et al. 2009 §4-5)",
            objectives=("k-means", "k-median"),
            most_columns=7,
            variants=({}, {"base": "net", "c": 2, "rounds": 2}, {"base": "grid", "base_centres": 2}),
        ),
        Algorithm(
            name="exact-coreset",
            run=exact_coreset,
            summary="the best small coreset of a tiny grid",
            paper="Private Coresets (Feldman et al. 2009 §3)",
            objectives=("k-means", "k-median"),
            most_columns=3,
        ),
        Algorithm(
            name="jl-candidates",
            run=jl_candidates,
            summary="a random projection, private candidates, private swaps",
            paper="Balcan et al. 2017, made private",
            guarantee="either",
            uses_delta=means_use_delta,
            variants=({}, {"averages": "sums"}, {"averages": "sums", "final_round": False}, {"averages": "shortened"}),
        ),
        Algorithm(
            name="sites",
            run=sites,
            summary="k of a public list of sites, by private swaps",
            paper="Private local search (Gupta et al. 2010)",
            objectives=("k-means", "k-median"),
            needs=some_sites,
        ),
        Algorithm(
            name="max-cover",
            run=max_cover,
            summary="grid points that cover many rows, clustered and averaged",
            paper="Nguyen, Chaturvedi, Xu 2021",
            guarantee="approximate",
            engines=("memory", "files"),
            variants=({}, {"final_round": False, "bound": "exact"}),
            add_remove_variants=({"averages": "noisy-avg"},),
        ),
    )
}


def find(name: str) -> Algorithm:
    """The row of an algorithm, Covey's own or from outside (PACKAGE/NAME), or an error that lists them."""
    from covey.algorithms import outside

    if isinstance(name, str) and name in ALGORITHMS:
        return ALGORITHMS[name]
    others = outside.entries()
    if isinstance(name, str) and name in others:
        return outside.load(name)
    raise ParameterError("algorithm", f"must be one of {', '.join(map(repr, (*ALGORITHMS, *others)))}")
