def later():
    return 1
