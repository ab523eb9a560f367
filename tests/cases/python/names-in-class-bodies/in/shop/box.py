class K:
    def __init__(self):
        self.__p = 2

    @property
    def p(self):
        return self._K__p


def g():
    return 1
