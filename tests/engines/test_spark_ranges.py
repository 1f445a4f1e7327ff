"""Private ranges on Spark: the same release, to the bit, as in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covey.fit.fit import fit

pytestmark = pytest.mark.timeout(900)  # whichever comes first starts Spark


@pytest.mark.parametrize("more", [{}, {"person": "who", "rows_per_person": 2}])
def test_ranges_and_fit_are_equal_to_the_bit_on_spark(spark, more):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"a": rng.normal(45, 12, 1500), "b": rng.lognormal(3, 0.5, 1500), "who": np.arange(1500) // 3})
    rows.loc[::40, "b"] = np.nan
    asked = {"k": 2, "epsilon": 9.0, "bounds": {"a": (0, 120), "b": "private:0.5"}, "random_state": 1, "errors": "none"}
    told = [fit(data, **asked, **more) for data in (rows, spark.createDataFrame(rows).repartition(3))]
    assert told[0].to_json() == told[1].to_json()
    assert told[0].certificate.parameters["bounds"]["ranges"]["b"][1] > 10
