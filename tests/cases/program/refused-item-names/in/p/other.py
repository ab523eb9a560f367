def taken():
    return 2
