MADE = []


class Meta(type):
    def __init__(cls, name, bases, names):
        MADE.append(name)


class Middle(metaclass=Meta):
    pass
