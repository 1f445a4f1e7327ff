"""How many rows of a sample are enough for clustering: Blocki et al. 2021, with constants. Never reads rows.

The paper says that a sample of poly(α, k, ln n) rows is enough, and no more. The number here is proven with Serfling's
inequality and a net of centres: docs/reference/limits.md.
"""

from __future__ import annotations

import math

from covey.checks import whole_number
from covey.errors import ParameterError
from covey.theory.limits import Bound

__all__ = ["sample_size"]
FINENESS = [1.05 * 1.1**i for i in range(60)]  # of the net: its cells, as multiples of the fewest that can be enough


def sample_size(
    *, alpha: float, k: int, d: int, n: int, target: float, failure: float = 0.05, objective: str = "k-means"
) -> Bound:
    """Blocki et al. 2021: how many of n rows suffice for a clustering that is nearly as good on all of them.

    With probability 1 - failure, k centres that on the sample are within a factor alpha and an addend γ of the best
    average cost are so on all rows, with γ + target. The sample is uniform, without replacement. target : in units of
    the diameter of the domain, a cube (k-median), or of its square (k-means). Centres stay inside. Never more than n.
    """
    k, d, n = (whole_number(name, value, least=1, most=10**15) for name, value in (("k", k), ("d", d), ("n", n)))
    _between("alpha", alpha, 1, 1e9)
    _between("target", target, 1e-6, 1)
    _between("failure", failure, 1e-300, 0.999)
    if objective not in ("k-means", "k-median"):
        raise ParameterError("objective", "must be 'k-means' or 'k-median'")
    steep = 1 if objective == "k-median" else 2
    rows = min(_enough(alpha, k, d, n, target, failure, steep, fine) for fine in FINENESS)
    return Bound(
        float(min(n, rows)),
        f"so many of n = {n} rows suffice, with probability {1 - failure:g}: centres within (α, γ) of the best on the "
        f"sample are within (α, γ + {target:g}) on all rows, in average {objective} cost, the diameter being 1",
        True,
        "Blocki, Grigorescu and Mukherjee 2021; constants: docs/reference/limits.md",
    )


def _enough(alpha: float, k: int, d: int, n: int, target: float, failure: float, steep: int, fine: float) -> int:
    """The rows that a net of m cells along an axis asks for: all its centres, and the best of all rows."""
    cells = math.ceil(fine * steep / target)
    one = math.log(2 / failure)
    both = math.sqrt(k * d * math.log(cells) + one) + alpha * math.sqrt(one)
    room = target - steep / cells
    endless = both**2 / (2 * room**2)  # with replacement, or of infinitely many rows
    return math.ceil(endless * (n + 1) / (n + endless))


def _between(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ParameterError(name, f"must be a number from {low:g} to {high:g}")
