"""
Reading a release without Covey
===============================

A release is one JSON document (:doc:`/docs/reference/release-format`, with a JSON Schema). Whoever gets it needs
nothing but a reader of JSON. Here is one, and how Python, R and JavaScript read it.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from covey import Box, KMeans, Ledger

rng = np.random.default_rng(4)
rows = np.array([[-74.05, 40.75], [-73.95, 40.85]])[rng.integers(0, 2, 10_000)] + rng.normal(0, 0.012, (10_000, 2))
box = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
book = Ledger.memory(dataset="trips", epsilon=1)
path = Path(tempfile.mkdtemp()) / "release.json"
KMeans(2, epsilon=1, bounds=box, ledger=book, dataset="trips").fit(rows).release_.save(path)

# %%
# **Python,** with its standard library:
release = json.loads(path.read_text())
print(release["statement"])
for centre, size, (low, high) in zip(release["centres"], release["sizes"], release["errors"]["sizes"], strict=True):
    print(dict(zip(release["columns"], centre, strict=True)), f"about {size:,.0f} rows, {low:,.0f} to {high:,.0f}")

# %%
# **R,** with jsonlite:
#
# .. code-block:: r
#
#    release <- jsonlite::fromJSON("release.json")
#    centres <- setNames(as.data.frame(release$centres), release$columns)
#    centres$size <- release$sizes
#    cat(release$statement)
#    plot(centres$lon, centres$lat, cex = sqrt(centres$size / 1000))
#
# **JavaScript,** with Node or in a page:
#
# .. code-block:: js
#
#    const { readFileSync } = require("node:fs");
#    const release = JSON.parse(readFileSync("release.json", "utf8"));
#    for (const [i, centre] of release.centres.entries()) {
#      const named = Object.fromEntries(release.columns.map((name, j) => [name, centre[j]]));
#      console.log(named, Math.round(release.sizes[i]));
#    }

# %%
# The document, as anyone can draw it.
low, high = np.array(release["errors"]["sizes"]).T
sizes = np.array(release["sizes"])
figure, axes = plt.subplots(figsize=(5, 3.2))
axes.bar(range(len(sizes)), sizes, color="#1f5f8b", yerr=[sizes - low, high - sizes], capsize=6)
axes.set_xticks(range(len(sizes)), [f"{lon:.3f}, {lat:.3f}" for lon, lat in release["centres"]])
axes.set(title="Noisy sizes; whiskers hold 9 times in 10", ylabel="rows")
figure.tight_layout()
plt.show()
