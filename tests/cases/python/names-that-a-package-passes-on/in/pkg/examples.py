def show():
    return 1
