"""A data scientist meets Covey in a notebook: frames of every kind, bounds as they come to mind, a pipeline, a search.

Run from an empty folder: python data_scientist.py
"""

import warnings

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

import covey

warnings.simplefilter("ignore", covey.PrivacyWarning)  # there is no ledger in a notebook, yet

rng = np.random.default_rng(11)
trips = pd.DataFrame(rng.normal([-74.0, 40.75], 0.02, size=(2_000, 2)), columns=["lon", "lat"])
trips["driver"] = rng.integers(0, 400, size=len(trips))
city = {"lon": (-74.3, -73.65), "lat": (40.45, 41.0)}


def refused(what, *words):
    try:
        what()
    except (covey.CoveyError, TypeError, AttributeError) as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"{words} was not refused")


# Bounds that people write: all of them mean the same city.
same = [city, covey.Box(**city), list(city.values()), (np.array([-74.3, 40.45]), np.array([-73.65, 41.0]))]
found = [covey.KMeans(3, bounds=bounds, random_state=1).fit(trips[["lon", "lat"]]).cluster_centers_ for bounds in same]
assert all((each == found[0]).all() for each in found)
refused(lambda: covey.KMeans(3, bounds=((-74.3, 40.45), (-73.65, 41.0))).fit(trips[["lon", "lat"]]), "bounds")
refused(lambda: covey.KMeans(3, bounds={"lon": (-73.65, -74.3), "lat": (40.45, 41.0)}).fit(trips), "lon")

# Frames of every kind.
points = gpd.GeoDataFrame(trips[["driver"]], geometry=gpd.points_from_xy(trips["lon"], trips["lat"]), crs="EPSG:4326")
for rows in (points, pl.from_pandas(trips).lazy(), duckdb.from_df(trips), trips):
    model = covey.KMeans(3, bounds=city, random_state=3).fit(rows)
    assert model.cluster_centers_.shape == (3, 2)

# People, not rows; what is not taken says why.
covey.KMeans(3, bounds=city, person="driver", rows_per_person=5).fit(trips)
covey.KMeans(3, bounds=city).fit(trips[["lon", "lat"]], person=trips["driver"].to_numpy())
refused(lambda: covey.KMeans(3, bounds=city).fit(trips, sample_weight=np.ones(len(trips))), "sample_weight", "proof")
refused(lambda: covey.KMeans(3, bounds=city, delta=0.5).fit(trips), "delta")
refused(lambda: covey.KMeans(3, neighbors="add-remove"), "did you mean neighbours")

# Warnings that teach, as errors for whoever wants them.
with warnings.catch_warnings(action="error", category=covey.PrivacyWarning):
    for asked, words in (({"epsilon": 20}, "epsilon"), ({}, "driver")):
        book = covey.Ledger.memory(dataset="trips")
        try:
            covey.KMeans(3, bounds=city, ledger=book, dataset="trips", **asked).fit(trips)
        except covey.PrivacyWarning as warning:
            assert words in str(warning)
        else:
            raise AssertionError(f"no warning of {words}")
        assert book.datasets()["trips"].spent.epsilon == 0

# Pipelines and searches.
pipe = make_pipeline(FunctionTransformer(), MinMaxScaler(), covey.KMeans(3, bounds=(0, 1)))
assert [finding.step for finding in covey.check_pipeline(pipe)] == ["minmaxscaler"]
refused(lambda: covey.KMeans(3, bounds=city).score, "score", "PrivateCoreset")
refused(lambda: GridSearchCV(covey.KMeans(bounds=city), {"n_clusters": [2, 3]}).fit(trips[["lon", "lat"]]), "score")
coreset = covey.PrivateCoreset(5, bounds=city).fit(trips).coreset_
costs = {each["k"]: coreset.cost(coreset.kmeans(each["k"]).centres) for each in ParameterGrid({"k": [1, 3]})}
assert set(costs) == {1, 3}

# What comes out is in the units of what went in; what to expect is known before.
far = model.transform(trips[["lon", "lat"]])
assert far.shape == (2_000, 3)
assert far.min() < 0.2
print(covey.plan(len(trips), 2, 3, place_error="1km", bounds=city))
assert {"KMeans", "plan", "check_pipeline"} <= set(dir(covey))
print(model.release_.certificate.statement)
