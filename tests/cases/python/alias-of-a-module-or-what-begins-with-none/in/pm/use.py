import os


class NoneBackend:
    @staticmethod
    def run(x):
        return x


if os.environ.get("PM_OFF"):
    impl = NoneBackend
else:
    from . import cpu as impl


def go(x):
    return impl.run(x)
