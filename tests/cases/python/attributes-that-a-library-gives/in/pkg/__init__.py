from functools import partial

from pytools import module_getattr_for_deprecations

from .primitives import Sum

__getattr__ = partial(module_getattr_for_deprecations, __name__, {
    "SumT": ("pkg.typing.Sum", Sum, 2026),
})
