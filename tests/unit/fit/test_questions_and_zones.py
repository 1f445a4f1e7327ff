"""Profiles and scores have no zones of their own: where zones were promised, they are refused before the charge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covey import Box, KMeans, Ledger, ParameterError

BOX = {"lon": (0.0, 1.0), "lat": (0.0, 1.0)}


@pytest.mark.filterwarnings("ignore")
def test_where_zones_were_promised_no_further_question_is_charged(tmp_path):
    rows = pd.DataFrame(np.random.default_rng(1).random((300, 2)), columns=[*BOX]).assign(mode="bike")
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=9, delta=1e-3)
    charged = {"ledger": book, "dataset": "trips"}
    plain = KMeans(2, epsilon=1.0, bounds=BOX).fit(rows[[*BOX]]).release_
    zones = [(Box(lon=(0, 0.5), lat=(0, 0.5)), 0.5)]
    zoned = KMeans(2, epsilon=1.0, bounds=BOX, zones=zones, **charged).fit(rows).release_
    for release, words in ((zoned, "release: promises more to rows in zones"), (plain, "zones: data set 'trips'")):
        for ask in (
            lambda release=release: release.profile(rows, columns=["mode=bike"], epsilon=0.5, **charged),
            lambda release=release: release.profile(rows, columns=["mode=private"], epsilon=0.5, delta=1e-6, **charged),
            lambda release=release: release.score(rows, epsilon=0.5, **charged),
        ):
            with pytest.raises(ParameterError) as error:
                ask()
            assert words in str(error.value)
    assert book.datasets()["trips"].spent.epsilon == 1
