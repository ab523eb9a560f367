from pkg.kinds import kind


def depth(pool):
    path = type(pool).__module__.split(".")
    if path[0] == "third":
        return len(path)
    return path[0]
