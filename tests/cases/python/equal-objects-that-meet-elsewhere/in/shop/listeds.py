from shop import first, second


def lists(x):
    kept = {first.listed(x)}
    given = {second.listed(x)}
    return kept & given
