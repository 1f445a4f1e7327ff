"""What `covey bench su16` measures, and how often: recorded with every result."""

from __future__ import annotations

from dataclasses import dataclass

PRINTED = ("grid, printed", "hybrid, printed")
CURVES = ("lloyd", "gkm", "gkm-3k", "genetic", "genetic, printed", "grid", "hybrid", *PRINTED)
HEAT = ("lloyd", "gkm", "gkm-3k", "genetic", "grid, theta 2", "grid", "grid, theta 50", "hybrid", *PRINTED)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured. `runs` of lloyd are from each start; of others, in all."""

    made_up_rows: int | None = None  # instead of the data sets, that many rows of Gaussian clusters each
    epsilons: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0)
    starts: int = 30
    runs: tuple[tuple[str, int], ...] = (
        ("lloyd", 100),
        ("gkm", 100),
        ("gkm-3k", 100),
        ("genetic", 100),
        ("grid", 30),
        ("hybrid", 100),
        ("genetic, printed", 100),
        ("grid, printed", 10),
        ("hybrid, printed", 100),
    )
    forced_runs: int = 30
    heat_sizes: tuple[int, ...] = tuple(range(2, 11))  # of both d and k
    heat_rows: int = 10_000
    heat_epsilon: float = 1.0
    heat_runs: tuple[tuple[str, int], ...] = (
        ("lloyd", 100),
        ("gkm", 100),
        ("gkm-3k", 100),
        ("genetic", 100),
        ("grid, theta 2", 10),
        ("grid", 10),
        ("grid, theta 50", 10),
        ("hybrid", 100),
        ("grid, printed", 10),
        ("hybrid, printed", 100),
    )
    block_epsilon: float = 1.0
    block_exponents: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    block_runs: int = 20
    search_rounds: int = 100
    search_runs: int = 10
    time_epsilon: float = 0.1
    time_runs: int = 11


FULL = Settings()
QUICK = Settings(
    made_up_rows=2_000,
    epsilons=(0.05, 0.2, 0.7, 2.0),
    starts=4,
    runs=tuple((variant, 2) for variant in CURVES),
    forced_runs=2,
    heat_sizes=(2, 4, 8),
    heat_rows=2_000,
    heat_runs=tuple((variant, 1) for variant in HEAT),
    block_exponents=(0.2, 0.4, 0.6, 1.0),
    block_runs=2,
    search_rounds=16,
    search_runs=1,
    time_runs=3,
)
