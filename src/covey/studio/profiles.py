"""What is in the clusters that are on the slider: a question to the rows, charged with an epsilon of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.fit.profile import make_profile
from covey.published.profile.profile import Profile
from covey.published.profile.words import sentences
from covey.studio.places import Asked
from covey.studio.prices import How
from covey.studio.view import Views

AS_THE_LEVEL = dict.fromkeys(("neighbours", "person", "rows_per_person"))  # what is hidden is as in the look


def profiled(views: Views, asked: Asked, how: How, **question: Any) -> dict[str, Any]:
    """A profile of the centres of a level as a publication would have them, charged to the same data set."""
    level, k, objective, edges = asked
    release = views.levels.release(level, k, objective=objective, edges=edges, **how._asdict())
    data = views.data
    terms = {**AS_THE_LEVEL, "dataset": data.dataset, "engine": "auto", **question}
    return drawn(make_profile(release, data.source, **terms))


def drawn(profile: Profile) -> dict[str, Any]:
    """A profile as the page draws it: what stands out, shares with their intervals, and the document to keep."""
    columns = []
    for column in profile.columns:
        _, counts = profile.of(column.name)
        columns.append(
            {
                "name": column.name,
                "cells": column.cells,
                "shares": np.round(counts.shares(), 4).tolist(),
                "overall": np.round(counts.whole.shares()[0], 4).tolist(),
                "few": profile.cannot_tell(column.name).tolist(),
            }
        )
    return {
        "sentences": sentences(profile),
        "columns": columns,
        "statement": profile.certificate.statement,
        "document": profile.to_json().decode(),
    }
