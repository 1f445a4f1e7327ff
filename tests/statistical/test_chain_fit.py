"""The levels of a chain against their exact laws: right ones are accepted, a scale ten per cent off is not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from covey.events import Sensitivity
from covey.noise import SeededSource
from covey.noise.chain import ChainedLaplace

DRAWS, WRONG = 400_000, 1e-9
LEVELS = tuple(Fraction(each) for each in ("0.1", "0.25", "0.5", "1", "2"))
UNIT = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)


@pytest.fixture(scope="module")
def drawn():
    return ChainedLaplace(LEVELS).add_chain(np.zeros(DRAWS, dtype=np.int64), UNIT, SeededSource(31))


def law(strength, reach):
    x = np.arange(-reach, reach + 1)
    p = np.exp(-strength)
    return (1 - p) / (1 + p) * p ** np.abs(x)


def p_value(sample, chances, reach):
    """Pearson's test on -reach..reach and what lies beyond; cells that expect fewer than 20 are pooled."""
    inside = sample[np.abs(sample) <= reach]
    seen = np.append(np.bincount(inside + reach, minlength=2 * reach + 1), len(sample) - len(inside)).astype(float)
    due = np.append(chances, max(0.0, 1 - chances.sum())) * len(sample)
    small = due < 20
    seen, due = np.append(seen[~small], seen[small].sum()), np.append(due[~small], due[small].sum())
    if due[-1] < 1:
        seen, due = seen[:-1], due[:-1]
    return chi2.sf(((seen - due) ** 2 / due).sum(), len(due) - 1)


@pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.9, False), (1.1, False)])
@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_every_level_alone_is_laplace_noise_of_its_own_scale(drawn, level, off, accepted):
    strength = float(LEVELS[level])
    reach = int(12 / strength) + 2
    assert (p_value(drawn[level], law(strength / off, reach), reach) > WRONG) == accepted


@pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.9, False), (1.1, False)])
@pytest.mark.parametrize("level", range(len(LEVELS) - 1))
def test_the_step_between_levels_has_its_law(drawn, level, off, accepted):
    """Nothing with probability w, else a draw of the more private level's law; also 10% more or less often."""
    wide, narrow = float(LEVELS[level]), float(LEVELS[level + 1])
    w = (np.sinh(wide / 2) / np.sinh(narrow / 2)) ** 2 * off
    reach = int(12 / wide) + 2
    chances = (1 - w) * law(wide, reach)
    chances[reach] += w
    assert (p_value(drawn[level] - drawn[level + 1], chances, reach) > WRONG) == accepted


@pytest.mark.parametrize("level", range(len(LEVELS) - 1))
def test_the_step_does_not_depend_on_the_less_private_noise(drawn, level):
    """The share of cells that move is the same where the less private noise is small and where it is large."""
    moved, before = drawn[level] != drawn[level + 1], np.abs(drawn[level + 1])
    large = before > np.median(before)
    a, b = moved[large], moved[~large]
    share = moved.mean()
    spread = np.sqrt(share * (1 - share) * (1 / len(a) + 1 / len(b)))
    assert abs(a.mean() - b.mean()) < 6.5 * spread


def test_the_joint_law_of_two_levels(drawn):
    """P(X = x, Y = y) = law(x)·step(y - x), on a table of the middle."""
    less, more = drawn[4], drawn[3]
    wide, narrow = float(LEVELS[3]), float(LEVELS[4])
    w = (np.sinh(wide / 2) / np.sinh(narrow / 2)) ** 2
    reach = 3
    seen, due = [], []
    for x in range(-reach, reach + 1):
        for y in range(-reach, reach + 1):
            step = (1 - w) * law(wide, 40)[40 + y - x] + (w if x == y else 0)
            seen.append(((less == x) & (more == y)).sum())
            due.append(law(narrow, 40)[40 + x] * step * DRAWS)
    seen, due = np.append(seen, DRAWS - sum(seen)), np.append(due, DRAWS - sum(due))
    small = due < 20
    seen, due = np.append(seen[~small], seen[small].sum()), np.append(due[~small], due[small].sum())
    assert chi2.sf(((seen - due) ** 2 / due).sum(), len(due) - 1) > WRONG
