NAMES = []


def listed(function=None, *, name=None):
    def add(given):
        NAMES.append(name or given.__name__)
        return given

    return add(function) if function else add


@listed
def first():
    return 1


@listed(name="second")
def other():
    return 2


def third():
    return 3
