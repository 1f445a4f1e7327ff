"""
Customer segments with many columns
===================================

Twelve columns about customers, each with a public range. Beyond four columns the default looks for the directions
in which customers differ, privately, and a δ helps it much.
"""

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa

from covey import Box, KMeans, Ledger

# %%
# Made-up customers of four kinds, in twelve columns between 0 and 100.
rng = np.random.default_rng(11)
names = ["groceries", "fashion", "garden", "toys", "books", "sport", "travel", "music", "games", "pets", "tools", "art"]
kinds = rng.uniform(15, 85, (4, 12))
which = rng.choice(4, 40_000, p=[0.4, 0.3, 0.2, 0.1])
rows = np.clip(kinds[which] + rng.normal(0, 8, (40_000, 12)), 0, 100)
customers = pa.table(dict(zip(names, rows.T, strict=True)))

# %%
# The ranges come from what the columns mean (a share in per cent), never from the rows.
book = Ledger.memory(dataset="customers", epsilon=1, delta=1e-7)
box = Box(**dict.fromkeys(names, (0, 100)))
model = KMeans(4, epsilon=1, delta=1e-7, bounds=box, ledger=book, dataset="customers").fit(customers)
print(model.release_.certificate.statement)

# %%
# Segments as profiles, the largest first, with their noisy sizes.
release = model.release_
order = np.argsort(release.sizes)[::-1]
figure, axes = plt.subplots(figsize=(8, 3.4))
image = axes.imshow(np.array(release.centres)[order], cmap="viridis", vmin=0, vmax=100, aspect="auto")
axes.set_xticks(range(12), names, rotation=45, ha="right")
axes.set_yticks(range(4), [f"about {release.sizes[i]:,.0f}" for i in order])
axes.set_title("Four segments of customers")
figure.colorbar(image, label="per cent")
figure.tight_layout()
plt.show()
