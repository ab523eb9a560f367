def policy():
    return 1
