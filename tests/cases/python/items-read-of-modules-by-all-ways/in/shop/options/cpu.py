LIMITS = {"threads": 4}


def other():
    return 1
