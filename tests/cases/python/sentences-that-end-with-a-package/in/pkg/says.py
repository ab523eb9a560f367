from pkg._core import A


def fail():
    raise RuntimeError("Please report a bug to pkg.", A)
