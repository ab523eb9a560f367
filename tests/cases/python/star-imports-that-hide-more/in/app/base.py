def helper():
    return "base"
