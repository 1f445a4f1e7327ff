"""Planted bugs, each with the test that must notice it. docs/audit/mutants.md is the table of them."""

from mutants import algorithms, budget, door, errors, noise, questions, ranges, records, sensitivity, shares
from mutants.planting import Mutant

SUBJECTS = {
    "Noise": noise,
    "Sensitivity": sensitivity,
    "The door": door,
    "Records and rows": records,
    "Budget, ledger and promises": budget,
    "Samples, people, zones and levels": shares,
    "Private bounds": ranges,
    "Algorithms, estimators and releases": algorithms,
    "Questions about a release": questions,
    "Errors that are told": errors,
}
MUTANTS: tuple[Mutant, ...] = tuple(each for module in SUBJECTS.values() for each in module.MUTANTS)
