def kind(pool):
    path = type(pool).__module__.split(".")
    # A library of its own kind.
    if path[0] == "concurrent":
        if (len(path) > 2) and (path[2] == "thread"):
            return "threads"
        return "processes"
    return path[0]
