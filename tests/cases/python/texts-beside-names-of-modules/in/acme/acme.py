def acme():
    pass
