def mean(xs):
    """The mean."""
    xs = list(xs)
    return sum(xs) / len(xs) if xs else 0.0


def times(values):
    total = 1
    for x in values:
        total *= x
    return total


def fact(n):
    return 1 if n < 2 else n * fact(n - 1)


def width(xs):
    try:
        return max(xs) - min(x for x in xs)
    except ValueError as e:
        raise TypeError("nothing") from e


def minus(b, a):
    return b - a


def called(x):
    return x + 1


def passed(x):
    return x + 2
