"""Works with a library that need not be there."""
from pkg import deps

message = deps.problem_with("curvelets_that_are_not_here")

if message is None:
    from curvelets_that_are_not_here import flatten

try:
    import cupy_that_is_not_here as cp
except ImportError:
    HAS_GPU = False
else:
    HAS_GPU = True


class Transform:
    def run(self, data):
        if message is not None:
            raise NotImplementedError(message)
        return flatten(data)


def norm(data):
    return cp.linalg.norm(data) if HAS_GPU else sum(data)
