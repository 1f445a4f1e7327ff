"""The files of an office, as the libraries behind its programs write them."""

from __future__ import annotations

from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd


def make_files(folder: Path) -> None:
    rng = np.random.default_rng(11)
    trips = pd.DataFrame(rng.normal([-74.0, 40.75], 0.02, size=(2_000, 2)).round(6), columns=["lon", "lat"])
    trips.to_excel(folder / "trips.xlsx", index=False)
    text = "Trips of November\n" + trips.to_csv(sep=";", decimal=",", index=False)
    (folder / "trips.csv").write_text(text, encoding="utf-16", newline="")
    trips.to_csv(folder / "trips.zip", index=False)
    trips.rename(columns={"lon": "Longitude (deg)"}).to_csv(folder / "office.csv", index=False)
    points = gpd.points_from_xy(trips["lon"], trips["lat"])
    gpd.GeoDataFrame({"name": ["a station"] * len(trips)}, geometry=points, crs="EPSG:4326").to_file(
        folder / "stations.gpkg"
    )
