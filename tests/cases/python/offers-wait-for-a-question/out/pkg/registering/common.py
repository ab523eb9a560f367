KINDS = []


def base(value):
    return value
