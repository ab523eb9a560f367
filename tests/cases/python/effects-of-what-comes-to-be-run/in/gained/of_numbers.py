import numbers


class N:
    pass


numbers.Number.register(N)
