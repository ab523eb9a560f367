def lazy(ns, aliases):
    def get(name):
        source = aliases[name]
        level = 0
        while source[level] == ".":
            level += 1
        return getattr(__import__(source[level:], ns, None, [name], level), name)

    ns["__getattr__"] = get
