def pick(count):
    """Picks.

    >>> pick(2)
    2
    """
    return count


def other(count):
    """Does not say it.

    >>> other(1)
    1
    """
    return count


def third(count):
    """Uses another one.

    >>> third(fourth(1))
    1
    """
    return count


def fourth(count):
    return count
