try:
    from pkg.left import ops
except ImportError:
    ops = None


def helper(value):
    return value


def either(value):
    return helper(value)
