def helper():
    return "y"
