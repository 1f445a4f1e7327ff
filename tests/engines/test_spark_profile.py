"""Profiles of rows on Spark: the same bytes as from memory, for declared cells and for categories that are found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covey import KMeans, ParameterError

pytestmark = pytest.mark.timeout(900)  # whichever comes first starts Spark

BOX = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(rng.choice([0.2, 0.8], (300, 2)) + rng.normal(0, 0.02, (300, 2)), columns=["x", "y"])
    rows["shop.kind"] = rng.choice(["bank", "café", "7.0", "True"], 300)
    rows["flag"], rows["age"], rows["who"] = rng.random(300) < 0.5, rng.uniform(0, 100, 300), np.arange(300) // 2
    rows.loc[:20, "shop.kind"] = None
    return rows, KMeans(2, epsilon=5.0, bounds=BOX, random_state=1).fit(rows).release_


@pytest.mark.parametrize("people", [{}, {"person": "who", "rows_per_person": 1}])
def test_spark_counts_and_finds_the_same_to_the_byte(spark, made, people):
    rows, release = made
    frame = spark.createDataFrame(rows).repartition(3)
    ask = {"columns": ["shop.kind=private", "flag=true|false", "age=0:100:4"], "epsilon": 8, "delta": 1e-6}
    found = [release.profile(each, random_state=1, **ask, **people) for each in (frame, rows)]
    assert found[0].to_json() == found[1].to_json()
    assert set(found[0].columns[0].cells) == {"bank", "café", "7", "true", "other"}


def test_spark_reads_no_clocks_of_a_profile_and_says_so(spark, made):
    rows, release = made
    frame = spark.createDataFrame(rows.assign(when=pd.Timestamp("2024-05-01")))
    with pytest.raises(ParameterError, match="not on Spark"):
        release.profile(frame, columns=["hour(when)"], epsilon=1, random_state=1)
    with pytest.raises(ParameterError, match="neither texts nor numbers"):
        release.profile(frame, columns=["when=private"], epsilon=1, delta=1e-6, random_state=1)
