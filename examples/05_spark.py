"""
From laptop to Spark
====================

The same call on an array, on a folder of Parquet files, and on a Spark DataFrame. Statistics are whole numbers, so
that all three give the same answer; with a seed, which real releases must not have, even the same release byte for
byte.
"""

import os
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from covey import Box, KMeans

# %%
# Made-up trips, in memory and in four files.
rng = np.random.default_rng(2)
middles = np.array([[-0.5, -0.5], [0.5, -0.3], [0.0, 0.6]])
rows = middles[rng.integers(0, 3, 20_000)] + rng.normal(0, 0.1, (20_000, 2))
folder = Path(tempfile.mkdtemp())
for number, part in enumerate(np.split(rows, 4)):
    pq.write_table(pa.table({"x": part[:, 0], "y": part[:, 1]}), folder / f"part-{number}.parquet")

# %%
# ``random_state`` makes noise repeatable, to compare; such a release is **not private** and says so.
model = KMeans(3, epsilon=1, bounds=Box(x=(-1, 1), y=(-1, 1)), random_state=1)
found = {
    "memory": model.fit(pa.table({"x": rows[:, 0], "y": rows[:, 1]})).release_,
    "files": model.fit(folder).release_,
}

# %%
# Spark, where it is installed with Java: a DataFrame, or a path with ``engine="spark"``. Its workers need a Python
# that has Covey too.
os.environ["PYSPARK_PYTHON"] = sys.executable
try:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
except Exception as missing:
    print(f"Spark is left out here: {type(missing).__name__}")
else:
    found["Spark"] = model.fit(spark.read.parquet(str(folder))).release_
    spark.stop()

print({engine: release.centres == found["memory"].centres for engine, release in found.items()})

# %%
figure, panels = plt.subplots(1, len(found), figsize=(3.4 * len(found), 3.2), sharey=True)
for axes, (engine, release) in zip(panels, found.items(), strict=True):
    axes.scatter(*np.array(release.centres).T, s=np.array(release.sizes) / 30, color="#b35a1f", alpha=0.7)
    axes.set(title=engine, xlim=(-1, 1), ylim=(-1, 1))
figure.tight_layout()
plt.show()
