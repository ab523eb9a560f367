from typing import TYPE_CHECKING
import functools
from getattr_nothing.losses import hinge as _hinge
_deprecations = {"loss": ("getattr_nothing.loss is deprecated", _hinge), "gone": ("it is gone", None)}
if TYPE_CHECKING:
    from getattr_nothing.losses import hinge as loss
else:
    from getattr_nothing._warned import made_getattr as _made
    __getattr__ = _made(__name__, _deprecations)
    del _made
