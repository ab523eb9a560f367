from math import floor


def gpu_count():
    return floor(2.2)


def held_count():
    return floor(2.2)


def named_count():
    return floor(2.2)


def quoted_count():
    return floor(2.2)


def shown_count():
    return floor(2.2)


def spent_count():
    return floor(2.2)
