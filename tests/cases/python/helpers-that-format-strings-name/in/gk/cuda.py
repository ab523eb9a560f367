_UNIT = "B"


def _shown(n):
    return f"{n} {_UNIT}"


def told(n):
    return f"cuda {_shown(n)}"
