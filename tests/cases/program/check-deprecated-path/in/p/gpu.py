# coalesce: shim 0001-gpu
"""`p.gpu` is deprecated, use `p.core`; it will be removed in 4.0.0."""

from p.core import *  # noqa: F403
