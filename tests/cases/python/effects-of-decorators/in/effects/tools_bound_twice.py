ALL = []
KEEPS = True


def registered(first):
    def mark(func):
        return func

    if KEEPS:
        mark = lambda func: ALL.append(func) or func
    return mark(first)
