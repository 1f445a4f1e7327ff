"""
Where to put five clinics
=========================

Patients' addresses are private; the city's border, a park and the two clinics that stand are public. One private
coreset is paid for, and every question after that is free: five clinics anywhere, five with the two that stand,
none in the park.
"""

import matplotlib.pyplot as plt
import numpy as np

from covey import Box, Ledger, PrivateCoreset

# %%
# Made-up patients in five quarters of a city. Your rows go here.
rng = np.random.default_rng(3)
quarters = np.array([[-74.06, 40.74], [-74.04, 40.84], [-73.99, 40.79], [-73.95, 40.86], [-73.93, 40.73]])
patients = quarters[rng.choice(5, 30_000, p=[0.3, 0.2, 0.25, 0.15, 0.1])] + rng.normal(0, 0.012, (30_000, 2))

# %%
# The coreset is the only step that sees patients, and the only one that costs anything.
book = Ledger.memory(dataset="patients", epsilon=1)
box = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
coreset = PrivateCoreset(n_clusters=5, objective="k-median", epsilon=1, bounds=box, ledger=book, dataset="patients")
coreset = coreset.fit(patients).coreset_
print(coreset)

# %%
# Three plans. Two clinics stand already; the park must stay free.
stand = [[-74.03, 40.78], [-73.96, 40.83]]
corners = [[-74.02, 40.775], [-73.97, 40.775], [-73.97, 40.805], [-74.02, 40.805], [-74.02, 40.775]]
park = {"type": "Polygon", "coordinates": [corners]}
plans = {
    "anywhere": coreset.kmedian(5, random_state=1),
    "not in the park": coreset.kmedian(5, forbidden=park, random_state=1),
    "two stand": coreset.kmedian(5, fixed=stand, forbidden=park, random_state=1),
}
for name, plan in plans.items():
    way = coreset.mean_way(plan.centres)
    print(f"{name:16} {way.cost:5,.0f} m to the nearest clinic, between {way.low:,.0f} and {way.high:,.0f}")

# %%
# The picture shows what anybody may see: the coreset's points and the plans, no patient.
figure, axes = plt.subplots(figsize=(8, 5))
weights = np.clip(coreset.weights, 0, None)
axes.scatter(*coreset.points.T, s=60 * weights / weights.max(), color="#9db8c9", linewidths=0)
axes.add_patch(plt.Polygon(corners, color="#7fb77e", alpha=0.5, label="park"))
for (name, plan), mark in zip(plans.items(), "osD", strict=True):
    axes.scatter(*np.array(plan.centres).T, marker=mark, s=70, edgecolors="black", label=name)
axes.set(title="Five clinics, three plans, one ε", xlabel="lon", ylabel="lat")
axes.locator_params(axis="x", nbins=5)
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
figure.tight_layout()
plt.show()
