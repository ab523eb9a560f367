# coalesce: shim m
"""`pkg.old` is deprecated since 1, use `pkg.new`; it will be removed in 2.

Every name is forwarded: reading, assigning and deleting it here does so there.
"""

from typing import TYPE_CHECKING

from pkg._moved import forward

if TYPE_CHECKING:
    from pkg.new import (
        scale as scale,
        shift as shift,
    )

forward(__name__, "`pkg.old` is deprecated since 1, use `pkg.new`; it will be removed in 2", "pkg.old", "pkg.new", {})
