"""
Commuters of a city over a day
==============================

Where are people at night, in the morning, at noon? Hours are parts of a day that everybody has, so each hour is a
release of its own about the same people, and together they cost their sum: four maps of ε = 0.5 are a promise of 2.
"""

import matplotlib.pyplot as plt
import numpy as np

from covey import Box, KMeans, Ledger

# %%
# Made-up people who live in three suburbs and work in two centres.
rng = np.random.default_rng(5)
many = 20_000
homes = np.array([[-8, -5], [-7, 6], [8, 4]])[rng.integers(0, 3, many)] + rng.normal(0, 1.2, (many, 2))
works = np.array([[0, 0], [3, -3]])[rng.integers(0, 2, many)] + rng.normal(0, 0.7, (many, 2))
hours = {"3 am": 0.0, "8 am": 0.5, "noon": 1.0, "6 pm": 0.6}

# %%
# One ledger for the day. A fifth map would be refused before a row is read.
book = Ledger.memory(dataset="commuters", epsilon=2)
box = Box(east=(-12, 12), north=(-10, 10))  # kilometres from the town hall
maps = {}
for hour, along in hours.items():
    rows = homes + along * (works - homes) + rng.normal(0, 0.4, (many, 2))
    maps[hour] = KMeans(5, epsilon=0.5, bounds=box, ledger=book, dataset="commuters").fit(rows).release_
spent = book.datasets()["commuters"].spent
print(f"spent on the day: ε = {float(spent.epsilon):g}")

# %%
# Discs are noisy sizes; what may be only noise is left hollow.
figure, panels = plt.subplots(1, 4, figsize=(11, 3), sharex=True, sharey=True)
for axes, (hour, release) in zip(panels, maps.items(), strict=True):
    centres, sizes = np.array(release.centres), np.array(release.sizes)
    doubtful = np.zeros(5, bool) if release.doubtful is None else release.doubtful
    face = np.where(doubtful, "none", "#1f5f8b")
    axes.scatter(*centres.T, s=np.clip(sizes, 30, None) / 12, c=face, edgecolors="#1f5f8b", alpha=0.8)
    axes.set(title=hour, xlim=(-12, 12), ylim=(-10, 10), xlabel="km east")
panels[0].set_ylabel("km north")
figure.tight_layout()
plt.show()
