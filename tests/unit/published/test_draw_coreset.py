"""The plot of a coreset: every shape of coreset can be drawn, and negative weights look different."""

import io

import numpy as np
import pytest

from covey import Certificate, Coreset, ParameterError
from covey.published.coreset.draw import coreset_plot
from covey.published.draw import two_columns


def coreset(weights, *, d=2, domain=None, columns=None, seeded=False):
    rng = np.random.default_rng(1)
    box = {"type": "box", "lower": [-1.0] * d, "upper": [1.0] * d}
    certificate = Certificate(
        algorithm="made-up",
        parameters={},
        epsilon=0.3,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain=domain or box,
        seeded=seeded,
        covey="0.1.0",
    )
    names = columns or [f"x{i}" for i in range(d)]
    return Coreset(rng.uniform(-1, 1, (len(weights), d)), weights, columns=names, certificate=certificate)


def pixels(png):
    from matplotlib.image import imread

    return imread(io.BytesIO(png))[:, :, :3]


def red(image):
    return int(((image[:, :, 0] > 0.6) & (image[:, :, 1] < 0.45) & (image[:, :, 2] < 0.45)).sum())


@pytest.mark.parametrize("weights", [[1.0], [-1.0], [0.0], [5.0, -2.0, 0.0], list(range(-50, 3000))])
def test_every_coreset_can_be_drawn(weights):
    assert pixels(coreset_plot(coreset(weights))).shape[1] > 1000


def test_a_ball_and_more_columns():
    ball = {"type": "ball", "radius": 2.0, "center": [0.0, 0.0, 0.0]}
    assert coreset_plot(coreset([1.0, 2.0], d=3, domain=ball)).startswith(b"\x89PNG")


def test_negative_weights_and_seeds_are_marked():
    plain = red(pixels(coreset_plot(coreset([1.0] * 30))))
    assert red(pixels(coreset_plot(coreset([1.0] * 15 + [-1.0] * 15)))) > plain + 100
    assert red(pixels(coreset_plot(coreset([1.0] * 30, seeded=True)))) > plain + 100


def test_the_columns_of_the_map():
    assert two_columns(["hour", "lat", "lon"], None, None) == (2, 1)
    assert two_columns(["a", "b", "c"], None, None) == (0, 1)
    assert two_columns(["a", "b", "c"], "c", "a") == (2, 0)
    with pytest.raises(ParameterError, match="plot"):
        two_columns(["lon"], None, None)
    with pytest.raises(ParameterError, match="lon"):
        two_columns(["a", "b"], "z", None)
