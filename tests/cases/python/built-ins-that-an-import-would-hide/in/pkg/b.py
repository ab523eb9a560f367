def max(values):
    return "most"


def use(values):
    return max(values)
