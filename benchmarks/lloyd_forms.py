"""`lloyd` in all its forms: even and increasing shares, Laplace and Gaussian noise, against the printed one.

    python benchmarks/lloyd_forms.py --data DIR      # about two minutes of one core

Sets are those of Su et al. 2016 (covey.bench.sets); NICV is the mean squared distance of a row to its nearest centre,
every column scaled to [-1, 1]. Each form runs from the same ten packings, ten times with other noise from each.
Writes benchmarks/results/lloyd/forms.csv: a line for each set, epsilon and form, with the mean NICV, its standard
error and the ratio to the printed form (even shares, Laplace noise).
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from covey.algorithms.lloyd import lloyd
from covey.bench import sets
from covey.bench.sets import seed_of
from covey.bench.workload import Workload, door
from covey.budget.accounting.promise import Promise
from covey.events import exactly

SETS = ("S1", "Gowalla", "TIGER", "Adult-num", "Lifesci")  # of 2, 2, 2, 6 and 10 columns
EPSILONS = (0.1, 0.5, 1.0)
DELTA = "1e-6"
STARTS = SEEDS = 10
PRINTED = ("even", "laplace")
FORMS = [(shares, noise) for noise in ("laplace", "gaussian") for shares in ("even", "increasing")]
RESULTS = Path(__file__).parent / "results" / "lloyd" / "forms.csv"


def measure(load: Workload, *, epsilon: float, shares: str, noise: str) -> list[float]:
    """The NICV of every run: all seeds from all starts."""
    budget, delta = exactly(epsilon), exactly(DELTA)
    costs = []
    for start in range(STARTS):
        for seed in range(SEEDS):
            noise_seed = seed_of(load.name, "forms", shares, noise, epsilon, start, seed)
            curator = door(load.engine, load.domain, Promise.of(budget, delta), seed=noise_seed)
            found = lloyd(
                curator,
                k=load.k,
                epsilon=budget,
                delta=delta,
                public_rng=load.public_at(start),
                shares=shares,
                noise=noise,
            )
            costs.append(load.nicv(found.centres))
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the Parquet files")
    data = parser.parse_args().data
    lines = []
    for which in (each for each in sets.SU16 if each.name in SETS):
        load = Workload(sets.load(which, data), k=which.k, name=which.name, starts=STARTS)
        for epsilon in EPSILONS:
            found = {form: measure(load, epsilon=epsilon, shares=form[0], noise=form[1]) for form in FORMS}
            for (shares, noise), costs in found.items():
                mean, error = np.mean(costs), np.std(costs, ddof=1) / len(costs) ** 0.5
                ratio = mean / np.mean(found[PRINTED])
                numbers = [f"{mean:.5g}", f"{error:.2g}", f"{ratio:.3f}"]
                lines.append([which.name, load.domain.dimension, which.k, epsilon, shares, noise, *numbers])
                print(*lines[-1], flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "d", "k", "epsilon", "shares", "noise", "nicv", "se", "times_printed"])
        writer.writerows(lines)


if __name__ == "__main__":
    main()
