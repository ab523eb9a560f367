from shop import first, second


def count(x):
    counts = {}
    for each in (first.counted(x), second.counted(x)):
        counts[each] = 1
    return counts
