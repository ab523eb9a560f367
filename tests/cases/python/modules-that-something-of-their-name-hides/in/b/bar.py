def bar():
    return 1
