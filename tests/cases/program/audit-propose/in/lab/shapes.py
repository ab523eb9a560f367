"""Now in `lab.statistics`."""

from lab.statistics import covariance

__all__ = ["covariance"]
