"""scikit-learn estimators: thin adaptors around `covey.fit.fit.fit`."""

from covey.estimators.clusterers import KMeans, KMedian
from covey.estimators.coreset import PrivateCoreset

__all__ = ["KMeans", "KMedian", "PrivateCoreset"]
