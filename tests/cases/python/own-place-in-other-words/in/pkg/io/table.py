HERE = globals()["__file__"]
