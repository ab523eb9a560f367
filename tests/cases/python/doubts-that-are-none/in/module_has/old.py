class Thing:
    pass
KEY = 1
