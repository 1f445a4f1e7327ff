"""A public linear map of lattice rows to fewer coordinates, exact in integers. Proof: projection.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.public import Domain

MOST = 2**52  # below this every partial sum of the matrix product is an exact float64


class Projection:
    """y = matrix · (row - middle), clipped to ±half and snapped to the lattice of a box `target` of as many columns.

    matrix : (q, d) whole numbers; middle : (d,) a lattice point; half : (q,) whole numbers in units of the product.
    All of them are public, or released before. A row's image depends on that row alone.
    """

    def __init__(self, matrix: ArrayLike, middle: ArrayLike, half: ArrayLike, domain: Domain) -> None:
        self.domain = domain
        self.matrix = _whole("matrix", matrix)
        self.middle = domain.snap(middle)
        self.half = _whole("half", half)
        d = domain.dimension
        if self.matrix.ndim != 2 or self.matrix.shape[1] != d or len(self.matrix) < 1:
            raise ParameterError("matrix", f"must have at least one line, and {d} columns")
        if self.middle.shape != (d,) or self.half.shape != (len(self.matrix),) or self.half.min() < 1:
            raise ParameterError("middle, half", "must be a point of the domain, and a positive width for every line")
        if int(np.abs(self.matrix).max()) * d * 2 * domain.limit >= MOST:
            raise ParameterError("matrix", f"has numbers too large to be exact in {d} columns: use `quantised`")
        for array in (self.matrix, self.middle, self.half):
            array.setflags(write=False)
        q = len(self.matrix)
        self.target = Domain(middle=(0.0,) * q, half=(1.0,) * q)

    @staticmethod
    def unit(domain: Domain) -> int:
        """The whole number that stands for 1 in a matrix of entries from -1 to 1, as fine as exactness allows."""
        largest = (MOST - 1) // (domain.dimension * 2 * domain.limit)
        return 1 << (largest.bit_length() - 1) if largest.bit_length() <= 21 else 1 << 20

    def apply(self, rows: NDArray[np.int32] | NDArray[np.float64]) -> NDArray[np.int32]:
        """The images of (d, n) lattice rows, as (q, n) lattice rows of `target`. Behind the door only."""
        shifted = rows.astype(np.float64)
        shifted -= self.middle[:, None]
        image = np.asarray(self.matrix.astype(np.float64) @ shifted)  # exact: whole numbers below 2^52 in any order
        half = self.half[:, None].astype(np.float64)
        np.clip(image, -half, half, out=image)
        image *= self.target.limit / half
        np.rint(image, out=image)
        return image.astype(np.int32)

    def lift(self, points: ArrayLike) -> NDArray[np.float64]:
        """Points (m, q) in lattice units of `target` as points of the domain, for a matrix whose lines are orthogonal.

        Free. In the subspace exact, zero outside it.
        """
        lines = self.matrix.astype(np.float64)
        products = np.asarray(points, dtype=np.float64) * (self.half / self.target.limit)
        inside = products @ (lines / np.square(lines).sum(axis=1, keepdims=True))
        return np.asarray(inside + self.middle, dtype=np.float64)


def _whole(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind != "i":
        raise ParameterError(name, "must be whole numbers")
    return array.astype(np.int64)
