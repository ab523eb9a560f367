from ._base import Transform


def _clip(v):
    return max(0, v)


class Flip(Transform):
    def apply(self, x):
        return [_clip(v) for v in x]
