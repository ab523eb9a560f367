class Group:
    def __init__(self):
        self.commands = {}

    def command(self, function):
        self.commands[function.__name__] = function
        return function


def make_base():
    class Base:
        tables = []

    return Base
