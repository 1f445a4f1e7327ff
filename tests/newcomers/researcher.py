"""A researcher compares algorithms on an array and a Parquet file, wants numbers that repeat, and reads the documents.

Run from an empty folder: python researcher.py
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import covey
from covey.limits import pure_clustering_floor

warnings.simplefilter("ignore", covey.PrivacyWarning)

rng = np.random.default_rng(11)
middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.0, 0.6]])
rows = middles[rng.integers(3, size=3_000)] + rng.normal(scale=0.08, size=(3_000, 2))
pq.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), "rows.parquet")

# The algorithms of the papers, with their own parameters; a seed for what has to repeat, and the release says so.
for algorithm in ("auto", "lloyd", "grid", "hybrid"):
    model = covey.KMeans(3, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm, random_state=5).fit(rows)
    again = covey.KMeans(3, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm, random_state=5).fit(rows)
    assert (model.cluster_centers_ == again.cluster_centers_).all()
    assert "not private" in model.release_.certificate.statement.lower()
lloyd = covey.KMeans(3, bounds=(-1, 1), algorithm="lloyd", algorithm_params={"rounds": 3}, random_state=5).fit(rows)
assert lloyd.release_.certificate.parameters["rounds"] == 3

# Both relations, k-median in a ball with real noise; a file gives what an array gives.
nearby = []
for epsilon in (0.5, 2.0):
    model = covey.KMeans(3, epsilon=epsilon, bounds=(-1, 1), neighbours="replace-one", random_state=7)
    model.fit("rows.parquet")
    nearby.append(np.linalg.norm(model.cluster_centers_[:, None] - middles[None], axis=2).min(axis=0).max())
assert nearby[-1] < 0.2
covey.KMedian(3, epsilon=1.0, bounds=covey.Ball(2.0)).fit(rows)
same = [covey.KMeans(3, bounds=(-1, 1), random_state=2).fit(data).release_.centres for data in (rows, "rows.parquet")]
assert same[0] == same[1]

# A large epsilon stands at the end of every plot, and is warned of.
with warnings.catch_warnings(record=True, action="always") as said:
    covey.KMeans(3, epsilon=100.0, bounds=(-1, 1)).fit(rows)
assert any("promises next to nothing" in str(each.message) for each in said)

# What leaks is not there; what is there is written down.
assert not any(hasattr(model, name) for name in ("labels_", "inertia_", "score", "n_samples_seen_"))
model.release_.save("release.json")
document = json.loads(Path("release.json").read_text())
assert document["certificate"]["epsilon"] == 2.0
assert covey.Release.load("release.json") == model.release_
print(model.release_.certificate.statement)

# What to expect, from Python as from the command line, and what nobody can beat.
outlook = covey.plan(3_000, 2, 3, epsilon=0.5, error=0.05)
print(outlook)
assert outlook.limit == pure_clustering_floor(k=3, d=2, epsilon=0.5)
assert json.dumps(outlook.document())
