ALL = []


def registered(name=''):
    known = ALL

    def mark(func):
        known.append(func)
        return func

    return mark
