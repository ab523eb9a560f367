class Box:
    pass


SIMPLE = Box()


class Frame(Box):
    inner = SIMPLE
