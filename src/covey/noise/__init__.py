"""NOISE: exact integer noise, and the mechanisms that know what it costs.

`source` is the only place of randomness; `coins` turns it into choices of exact probability; `laplace`, `gaussian`,
`radial`, `selection` and `threshold` are the distributions, each with its proof note; `gaps` are the coins of a
sample; `mechanisms` are the frozen descriptions that the curator uses. Nothing here sees a row or spends budget.
"""

from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, RadialLaplace, ThresholdedLaplace
from covey.noise.source import OsSource, SeededSource, Source

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "OsSource",
    "RadialLaplace",
    "SeededSource",
    "Source",
    "ThresholdedLaplace",
]
