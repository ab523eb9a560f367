def leaves(tree):
    for part in tree:
        if isinstance(part, list):
            yield from leaves(part)


def unused(tree):
    return 2
