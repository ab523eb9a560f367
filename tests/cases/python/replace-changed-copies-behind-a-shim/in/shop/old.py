def leaves(tree):
    for sub in tree:
        if isinstance(sub, list):
            yield from leaves(sub)
        else:
            yield sub


def unused(tree):
    return 1


def each(tree):
    for sub in tree:
        if sub is None:
            break
        else:
            yield sub
