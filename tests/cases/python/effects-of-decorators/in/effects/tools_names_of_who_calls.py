ALL = []


def registered(first):
    kept = ALL

    def keep(func):
        kept.append(func)

    def mark(func, kept):
        keep(func)
        return func

    return mark(first, [])
