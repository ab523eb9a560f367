ALL = []


def registered(first):
    def keep(func):
        ALL.append(func)
        return func

    return keep(first)
