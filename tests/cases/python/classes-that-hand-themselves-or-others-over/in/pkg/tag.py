class DottedName:
    def __init__(self, parts):
        self.parts = parts

    @classmethod
    def from_class(cls, argcls):
        return cls([*argcls.__module__.split("."), argcls.__name__])


class Other:
    @staticmethod
    def parts_of(thing):
        return thing.__module__.split(".")


class Tag:
    def name(self):
        return DottedName.from_class(type(self))


def parts(thing):
    return Other.parts_of(thing)
