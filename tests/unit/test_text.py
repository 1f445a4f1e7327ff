"""Numbers in words: two digits, and none that is not 0 is told as 0."""

import pytest

from covey.text import outward, plain, upward


@pytest.mark.parametrize(
    ("value", "up", "told"),
    [
        (0.0, False, "0"),
        (1234.5, False, "1,200"),
        (0.00123, True, "0.0013"),
        (2.51e-5, False, "0.000025"),
        (3.3e-201, False, "3.3e-201"),
        (3.31e-13, True, "3.4e-13"),
        (-3.3e-13, False, "-3.3e-13"),
        (1e99, False, "1e+99"),
        (1.01e99, True, "1.1e+99"),
        (1e14, False, "100,000,000,000,000"),
    ],
)
def test_two_digits(value, up, told):
    assert plain(value, up=up) == told


def test_ends_are_rounded_outward_and_promises_up():
    assert outward(0.12341, 0.12341, 3) == (0.123, 0.124)
    assert outward(-1.26, -1.21, 2) == (-1.3, -1.2)
    assert outward(0.3, 0.1 + 0.2, 2) == (0.3, 0.3)
    assert upward(1.00001, 4) == 1.001
    assert upward(0.0, 4) == 0.0
