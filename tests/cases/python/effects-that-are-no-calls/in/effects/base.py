TABLE = []
N = 0


def register(name):
    TABLE.append(name)
    return name


class Manager:
    def __enter__(self):
        TABLE.append(1)

    def __exit__(self, *found):
        pass


class Registry:
    def __lshift__(self, other):
        TABLE.append(other)
        return self

    def __iadd__(self, other):
        TABLE.append(other)
        return self

    def __contains__(self, other):
        TABLE.append(other)
        return True

    def __iter__(self):
        TABLE.append(0)
        return iter(())

    def __bool__(self):
        TABLE.append(0)
        return True

    def __format__(self, how):
        TABLE.append(how)
        return how

    def __getitem__(self, key):
        TABLE.append(key)
        return key

    def __len__(self):
        TABLE.append(0)
        return 0


class Descriptor:
    def __set_name__(self, owner, name):
        TABLE.append(name)


class Lazy:
    def __getattr__(self, name):
        TABLE.append(name)
        return name


class Properties:
    @property
    def value(self):
        TABLE.append(1)


def made():
    class Base:
        table = []

        def __init_subclass__(cls):
            Base.table.append(cls.__name__)

    return Base


class Meta(type):
    def __init__(cls, name, bases, names):
        TABLE.append(name)
        super().__init__(name, bases, names)


class WithMeta(metaclass=Meta):
    pass


MANAGER, REGISTRY, DESCRIPTOR, LAZY, PROPERTIES = (
    Manager(),
    Registry(),
    Descriptor(),
    Lazy(),
    Properties(),
)
ONE = Registry()
FIELD = Descriptor()
LOOSE = Lazy()
PLAIN = Properties()
ENTERED = Manager()
Base = made()
TEXTS = {}
