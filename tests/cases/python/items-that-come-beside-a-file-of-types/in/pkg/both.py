def typed(x):
    return 1
