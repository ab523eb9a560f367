LIMIT = 2
OTHER = 3


def told():
    return f"{LIMIT=} {OTHER}"
