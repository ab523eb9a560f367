ALL = []


def registered(first):
    def mark(func):
        return func

    def choose():
        nonlocal mark
        mark = lambda func: ALL.append(func) or func

    choose()
    return mark(first)
