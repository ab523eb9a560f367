TABLE = []
N = 0
CHOICES = {}


def register(name):
    TABLE.append(name)
    return name


class Registry:
    table = TABLE

    def add(self, name):
        self.table.append(name)

    def __call__(self, function):
        self.table.append(function)
        return function

    @classmethod
    def keep(cls, name):
        cls.table.append(name)


REGISTRY = Registry()


def decorator(name):
    def keep(function):
        CHOICES[name] = function
        return function

    return keep


def calls(function):
    return function()
