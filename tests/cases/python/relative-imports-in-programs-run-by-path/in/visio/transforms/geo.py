if __package__:
    from ._base import Transform
else:
    import pathlib
    import sys
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
    from visio.transforms._base import Transform


def _clip(v):
    return max(0, v)


class Resize(Transform):
    def apply(self, x):
        return [_clip(v) for v in x]


if __name__ == "__main__":
    print(Resize().apply([1]))
