def add():
    return 1
