def walk():
    return 1


def more():
    return "d"
