class Meta(type):
    def __new__(mcs, name, bases, names):
        made = super().__new__(mcs, name, bases, names)
        made.label = 1
        return made
    def __init__(cls, name, bases, names):
        super().__init__(name, bases, names)
        cls.size = 2
class Base(metaclass=Meta):
    pass
