"""What the efficient construction of private coresets promises: STOC'09, sections 4 and 5. Never reads rows.

The printed bounds are for points in the unit cube and k-median. They grow with the number of boxes of a net, (16kd)^d,
squared: they say what the construction depends on, and are far above what `net-coreset` is measured to do.
"""

from __future__ import annotations

import math

from covey.checks import whole_number
from covey.theory.limits import Bound, CostCeiling, _between, _positive

__all__ = ["bicriteria_ceiling", "net_coreset_error"]


def bicriteria_ceiling(*, n: int, d: int, k: int, alpha: float, failure: float = 0.05) -> CostCeiling:
    """STOC'09 Theorem 5.2: the k-median cost of the centres of all nets, (16kd)^d in each of log2 n rounds.

    alpha, failure : of all rounds together. With the factor d in γ that the noise of its own nets asks for, and that
    the theorem leaves out (docs/reference/limits.md).
    """
    rounds, boxes = _nets(n, d, k)
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    away = d * math.log(d * boxes * rounds / failure) * boxes**2 * rounds / alpha
    source = "STOC'09, Theorem 5.2, with the noise of its nets"
    return CostCeiling(
        Bound(4 * math.sqrt(d), "4√d times the best k-median cost", False, source),
        Bound(
            math.sqrt(d) * rounds * away,
            "plus √d·log n·γ, γ = d·ln(d·f/δ')·f²/α', f = (16kd)^d, with the α' and δ' of one of log n rounds",
            False,
            source,
        ),
    )


def net_coreset_error(*, n: int, d: int, k: int, error: float, alpha: float, failure: float = 0.05) -> Bound:
    """STOC'09 section 4.3: the additive error of the efficient private coreset, for a relative error of O(ϵ).

    Of the centres of `bicriteria_ceiling` each has its own coreset on rays, which errs by O(ln(1/(δϵ^d))/(αϵ^(2d))).
    """
    rounds, boxes = _nets(n, d, k)
    _between("error", error, 0, 1)
    nets = bicriteria_ceiling(n=n, d=d, k=k, alpha=alpha, failure=failure).additive.value
    each = (math.log(boxes * rounds / failure) + d * math.log(1 / error)) / (alpha * error ** (2 * d))
    return Bound(
        error * nets + boxes * rounds * each,
        "a private k-median coreset of relative error O(ϵ) and additive error ϵ·β_B + |B|·O(ln(1/(δϵ^d))/(αϵ^(2d))) "
        "can be made in polynomial time, with the β_B of its |B| = (16kd)^d·log n centres",
        False,
        "STOC'09, Theorems 4.5 and 5.2, section 4.3",
    )


def _nets(n: int, d: int, k: int) -> tuple[int, int]:
    """How many nets there are, and of how many boxes each."""
    n, d, k = (
        whole_number(name, value, least=least, most=most)
        for name, value, least, most in (("n", n, 3, 10**15), ("d", d, 1, 16), ("k", k, 1, 10**6))
    )
    return math.ceil(math.log2(n)), (16 * k * d) ** d
