from pkg.humanize import Part


def schema(x):
    return Part(x)
