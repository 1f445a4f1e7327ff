"""Other software, and what it was measured to do: published figures, and diffprivlib in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench.sets import Floats

# Cost of the private centres relative to ordinary k-means, δ = n^-1.5. Source: the project's BENCHMARKS.md, "Utility":
# the LSH-tree clustering of google/differential-privacy at commit b5b0286 (on no package index), and diffprivlib
# 0.6.6 (IBM; pure ε), 3 runs each; and the prototype of the project's own recipe with floating-point noise and exact n,
# 6 runs. Their 64 Gaussians are another draw than ours.
PEERS = ("Google", "IBM", "recipe")
DIFFPRIVLIB = "0.6.6"
VERSIONS = {
    "Google": "google/differential-privacy, commit b5b0286 of 2026-08-06",
    "IBM": f"diffprivlib {DIFFPRIVLIB}",
    "recipe": "a prototype of Covey's recipe, with floating-point noise and the exact n",
}
SOURCE = f"BENCHMARKS.md: {VERSIONS['Google']} and {VERSIONS['IBM']}, 3 runs; the recipe's prototype, 6 runs"
_FIGURES = {  # ε = 0.1: Google, IBM, recipe; ε = 0.5: the same; ε = 1: the same
    "s1": (27.0, 11.9, 1.77, 15.0, 6.71, 1.05, 8.56, 5.06, 1.02),
    "gowalla_places": (4.09, 3.45, 1.05, 2.43, 2.72, 1.00, 2.43, 2.43, 1.00),
    "california_roads": (1.30, 1.35, 1.00, 1.19, 1.02, 1.00, 1.11, 1.00, 1.00),
    "house_rgb": (1.94, 1.28, 1.01, 1.08, 1.31, 1.00, 1.06, 1.01, 1.00),
    "adult_num": (1.83, 1.84, 1.03, 1.31, 1.41, 1.01, 1.26, 1.20, 1.01),
    "lifesci": (1.26, 1.50, 1.03, 1.17, 1.27, 1.00, 1.12, 1.22, 1.00),
    "letter": (2.23, 2.89, 1.41, 1.57, 2.01, 1.15, 1.41, 1.74, 1.10),
    "gas_emissions": (1.97, 3.50, 1.08, 1.97, 2.50, 1.01, 1.57, 2.03, 1.01),
    "nyc_pickups_5": (1.70, 3.72, 1.00, 1.36, 2.20, 1.00, 1.26, 1.87, 1.00),
    "nyc_pickups_10": (3.95, 4.34, 1.11, 1.68, 3.14, 1.00, 1.48, 1.66, 1.00),
    "nyc_trips": (1.46, 2.05, 1.09, 1.29, 1.75, 1.00, 1.22, 1.51, 1.00),
    "unbalance": (92.6, 275, 7.8, 39.0, 67.7, 1.90, 37.6, 33.1, 1.29),
    "birch2": (791, 328, 1.84, 797, 261, 0.97, 358, 171, 0.94),
    "mnist_train": (1.44, 1.88, 1.17, 1.19, 1.35, 1.02, 1.16, 1.35, 1.02),
    "gaussians_64": (26.3, 60.6, 11.0, 14.7, 49.3, 1.31, 5.17, 47.8, 1.03),
}
PUBLISHED: dict[str, dict[float, dict[str, float]]] = {
    name: {
        epsilon: dict(zip(PEERS, figures[3 * i : 3 * i + 3], strict=True)) for i, epsilon in enumerate((0.1, 0.5, 1.0))
    }
    for name, figures in _FIGURES.items()
}

NEEDS = (f"diffprivlib=={DIFFPRIVLIB}", "scikit-learn==1.8.0")  # it imports private names that 1.9 no longer has
SCRIPT = Path(__file__).with_name("ibm.py")


def diffprivlib_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "covey" / f"diffprivlib-{DIFFPRIVLIB}"


def diffprivlib_python(say: Callable[[str], None]) -> Path | None:
    """The interpreter of diffprivlib's environment, which is made on first use; None, with a word why, if it cannot."""
    folder = diffprivlib_folder()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = folder / "ready"
    if ready.exists() and python.exists():
        return python
    say(f"Making an environment for diffprivlib {DIFFPRIVLIB} in the cache folder, once.")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDS]
    try:
        for command in ([sys.executable, "-m", "venv", "--clear", str(folder)], install):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
        subprocess.run([str(python), "-c", "import diffprivlib.models"], check=True, capture_output=True, timeout=120)
        ready.touch()
    except (OSError, subprocess.SubprocessError) as error:
        why = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        last = why[-1] if why and isinstance(why[-1], str) else type(error).__name__
        say(f"diffprivlib is skipped: its environment could not be made ({last})")
        return None
    return python


class Diffprivlib:
    """A process of diffprivlib's own environment that fits again and again. It ends when its input closes."""

    def __init__(self, python: str | Path) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [python, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self._held: Floats | None = None

    def fit(self, rows: Floats, *, k: int, epsilon: float) -> tuple[Floats, float, float]:
        """Centres of rows in [-1, 1]^d, and the seconds of the fit: by the clock, and of the processor."""
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        new = rows is not self._held
        head: dict[str, Any] = {"shape": rows.shape if new else None, "k": k, "epsilon": epsilon}
        sink.write(json.dumps(head).encode() + b"\n")
        if new:
            sink.write(np.ascontiguousarray(rows, dtype=np.float64).data)
        sink.flush()
        self._held = rows
        line = source.readline()
        if not line:
            raise RuntimeError("diffprivlib's process ended")
        answer = json.loads(line)
        return np.array(answer["centres"]), float(answer["seconds"]), float(answer["cpu"])

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


@lru_cache(maxsize=1)
def diffprivlib(python: Path) -> Diffprivlib:
    """This process's own helper process."""
    return Diffprivlib(python)
