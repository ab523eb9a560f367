# coalesce: shim m
"""`pkg.geo.lie.so3` is deprecated since 1, use `pkg.lie.so3`; it will be removed in 2.

Every name is forwarded: reading, assigning and deleting it here does so there.
"""

from typing import TYPE_CHECKING

from pkg._moved import forward

if TYPE_CHECKING:
    from pkg.lie.so3 import (
        So3 as So3,
    )

forward(__name__, "`pkg.geo.lie.so3` is deprecated since 1, use `pkg.lie.so3`; it will be removed in 2", "pkg.geo.lie.so3", "pkg.lie.so3", {})
