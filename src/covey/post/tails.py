"""How far discrete Laplace noise goes: exact tails of one draw, and of the sum of two. Free: from public numbers."""

from __future__ import annotations

import math


def tail(strength: float, share: float) -> int:
    """The smallest t with P(|X| > t) <= share for discrete Laplace noise: 2p^(t+1)/(1+p) <= share."""
    p = math.exp(-strength)
    return max(0, math.ceil(math.log(share * (1 + p) / 2) / -strength - 1)) if p > 0 else 0


def tail_of_two(strength: float, share: float) -> int:
    """The smallest t with P(|X + Y| > t) <= share for two independent draws of discrete Laplace noise.

    With p = e^-strength and a = (1-p)/(1+p), a draw is x with probability a·p^|x|. The sum over x of p^(|x| + |s-x|) is
    p^s·(s+1) from x = 0, ..., s and p^(s+2j) from each side, j = 1, 2, ...: so for s >= 0

        P(X + Y = s) = a²·p^s·(s + c), c = (1+p²)/(1-p²)
        P(|X + Y| > t) = 2·a²·p^(t+1)·((t + 1 + c)/(1-p) + p/(1-p)²)
    """
    p, rest = math.exp(-strength), -math.expm1(-strength)
    c = (1 + p * p) / -math.expm1(-2 * strength)

    def beyond(t: int) -> float:
        return 2 * rest / (1 + p) ** 2 * math.exp(-strength * (t + 1)) * (t + 1 + c + p / rest)

    low, high = -1, 1
    while beyond(high) > share:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if beyond(middle) > share else (low, middle)
    return high
