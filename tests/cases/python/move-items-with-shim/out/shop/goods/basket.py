def helper():
    return 1


class Basket:
    size = helper()
