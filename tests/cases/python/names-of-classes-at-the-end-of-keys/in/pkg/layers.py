class Relu:
    pass


class Linear:
    pass


class Plain:
    pass
