from shop import first, second


def best(x):
    found = [first.rank(x)]
    found.append(second.rank(x))
    return sorted(found)
