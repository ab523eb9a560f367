def quiet():
    return 1
