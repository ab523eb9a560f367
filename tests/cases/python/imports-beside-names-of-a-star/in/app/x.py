def helper():
    return "x"
