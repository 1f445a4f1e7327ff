"""
People with many rows, and a budget for a year
==============================================

Rides of drivers, some with hundreds of rows. The promise is for drivers, so it names the column that says whose a
row is; a ledger on disk holds the budget of the year, and each month is paid for once, however often its job runs.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa

from covey import Box, BudgetError, KMeans, Ledger

# %%
# Made-up rides of 4,000 drivers, of whom a few are very busy.
rng = np.random.default_rng(8)
stands = np.array([[-74.05, 40.75], [-73.97, 40.76], [-73.95, 40.85]])


def rides_of_a_month():
    drivers = np.repeat(np.arange(4_000), rng.geometric(0.2, 4_000))
    places = stands[rng.integers(0, 3, len(drivers))] + rng.normal(0, 0.01, (len(drivers), 2))
    return pa.table({"driver": drivers, "lon": places[:, 0], "lat": places[:, 1]})


# %%
# The ledger: 0.5 a month for three months. Its promises are for drivers, for good.
file = Path(tempfile.mkdtemp()) / "rides.ledger"
book = Ledger.create(file, dataset="rides", epsilon=1.5, person="driver")
box = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))


def report(month, rides):
    fit = KMeans(3, epsilon=0.5, bounds=box, person="driver", ledger=book.with_key(month), dataset="rides")
    return fit.fit(rides).release_


january = rides_of_a_month()
releases = [report("January", january), report("February", rides_of_a_month()), report("March", rides_of_a_month())]
again = report("January", january)  # the job ran twice: the same release, at no cost
spent = book.datasets()["rides"].spent
print(again == releases[0], f"spent so far: ε = {float(spent.epsilon):g}")

# %%
# April is refused, before a row is read.
try:
    report("April", rides_of_a_month())
except BudgetError as refused:
    print(refused)

# %%
# What was published.
figure, axes = plt.subplots(figsize=(6, 4.6))
for month, release in zip(["January", "February", "March"], releases, strict=True):
    axes.scatter(*np.array(release.centres).T, s=np.clip(release.sizes, 0, None) / 8, alpha=0.5, label=month)
axes.set(title="Where drivers are, month by month", xlabel="lon", ylabel="lat", xlim=(-74.1, -73.9), ylim=(40.7, 40.9))
axes.locator_params(axis="x", nbins=5)
axes.legend(loc="upper left")
plt.show()
