def __getattr__(name):
    if name == "new":
        return 5
    raise AttributeError(name)
