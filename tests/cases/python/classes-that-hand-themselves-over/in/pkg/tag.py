class DottedName:
    def __init__(self, parts):
        self.parts = parts

    @classmethod
    def from_class(cls, argcls):
        return cls([*argcls.__module__.split("."), argcls.__name__])


class Tag:
    @property
    def name(self):
        return DottedName.from_class(type(self))
