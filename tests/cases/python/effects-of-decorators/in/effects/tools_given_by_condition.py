ALL = []


def registered(keeps=True):
    def mark(func):
        return func

    def keep(func):
        ALL.append(func)
        return func

    return keep if keeps else mark
