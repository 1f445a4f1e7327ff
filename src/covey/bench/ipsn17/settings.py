"""What `covey bench ipsn17` measures: everything here is recorded with the results."""

from __future__ import annotations

from dataclasses import dataclass

Runs = tuple[tuple[int, int, int], ...]
Ladders = tuple[tuple[int, tuple[float, ...]], ...]  # k, and the epsilons tried


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Runs are by (rows up to, k up to, runs): the paper's 100 up to 100,000 rows, fewer for more."""

    made_up: bool = False
    sizes: tuple[int, ...] = (100_000, 500_000, 1_000_000)
    runs: Runs = ((100_000, 10, 100), (1_000_000, 10, 10))
    other_runs: int = 10  # of add-remove, which the paper does not have, of the printed form, and of figure 6
    ladders: Ladders = (
        (1, (0.0005, 0.001, 0.002, 0.004, 0.007, 0.01, 0.02, 0.05, 0.1, 0.5)),
        (5, (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.8, 2.0)),
        (10, (0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0, 3.5)),
    )
    printed: Ladders = (
        (1, (0.002, 0.004, 0.007, 0.01, 0.02, 0.05, 0.1, 0.5)),
        (5, (0.04, 0.08, 0.15, 0.3, 0.8, 2.0, 5.0)),
        (10, (0.15, 0.3, 0.6, 1.0, 3.5, 10.0)),
    )
    taxi_rows: int = 88_286
    taxi_runs: int = 10
    centres: tuple[int, ...] = (1, 2, 5, 10, 20)  # k of figure 6
    centres_epsilons: tuple[float, ...] = (0.15, 0.5, 2.0)
    centres_printed: tuple[int, ...] = (1, 2, 5)
    compared: tuple[int, ...] = (20_000, 100_000, 300_000, 1_000_000)  # n of figure 7
    compared_runs: Runs = ((100_000, 5, 30), (1_000_000, 5, 10))
    compared_k: int = 5
    compared_epsilon: float = 0.5
    time_sizes: tuple[int, ...] = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
    time_sizes_printed: tuple[int, ...] = (30_000, 100_000, 300_000, 1_000_000)
    time_sizes_4d: tuple[int, ...] = (30_000, 100_000, 300_000, 1_000_000)
    time_k: tuple[int, ...] = (1, 5)
    time_runs: int = 3
    thresholds: tuple[int, ...] = (2**16, 2**18)  # rows from which on the paper's grid has twice as many lines
    map_k: int = 5
    map_levels: tuple[float, ...] = (2.0, 0.5, 0.1, 0.02)  # figure 8, the least private first
    map_levels_printed: tuple[float, ...] = (10.0, 5.0, 2.0, 0.8)
    map_runs: int = 30
    map_runs_printed: int = 10


FULL = Settings()
QUICK = Settings(
    made_up=True,
    sizes=(3_000, 9_000),
    runs=((9_000, 5, 2),),
    other_runs=2,
    ladders=((1, (0.05, 1.0)), (5, (0.01, 1.0, 4.0))),
    printed=((1, (4.0,)),),
    taxi_rows=2_000,
    taxi_runs=2,
    centres=(1, 3),
    centres_epsilons=(1.0,),
    centres_printed=(1,),
    compared=(4_000, 8_000),
    compared_runs=((8_000, 5, 2),),
    compared_epsilon=2.0,
    time_sizes=(2_000, 8_000),
    time_sizes_printed=(2_000, 4_000),
    time_sizes_4d=(2_000, 8_000),
    time_runs=1,
    thresholds=(2**10,),
    map_levels=(4.0, 1.0),
    map_levels_printed=(10.0, 5.0),
    map_runs=2,
    map_runs_printed=1,
)


def runs_for(table: Runs, n: int, k: int) -> int:
    """How often a cell of n rows and k centres is run: what the first line says that reaches so far."""
    return next(runs for rows, centres, runs in table if n <= rows and k <= centres)
