# coalesce: shim 0000-legacy
"""`lidar.legacy` is deprecated, use `lidar.core`; it will be removed in 3.0."""
from lidar.core import *
