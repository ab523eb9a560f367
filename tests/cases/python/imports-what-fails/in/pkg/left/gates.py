from pkg.left import ops


def helper(value):
    return ops.ndim(value)


def long_range(value):
    return helper(value)


class Base:
    pass


class Gate(Base):
    pass


class Other(Base):
    pass
