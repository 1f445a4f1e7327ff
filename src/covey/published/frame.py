"""What is published as a pandas table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.errors import DataError

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release


def frame_of(published: Release | Coreset) -> Any:
    """A row for each centre, or each point of a coreset; what is not known is left out."""
    from covey.published.export import records

    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise DataError("to_frame: needs the package pandas: pip install pandas") from None
    return pd.DataFrame(records(published))
