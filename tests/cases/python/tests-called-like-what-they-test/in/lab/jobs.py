import functools

COMMANDS = {}


def command(name=None):
    def register(function):
        COMMANDS[name or function.__name__] = function
        return function

    return register


def timed(function):
    @functools.wraps(function)
    def inner(*args):
        print(function.__qualname__)
        return function(*args)

    return inner


@command()
def start():
    return "start"


@timed
def stop():
    return "stop"


def normalise(name):
    return name.lower()


@command("fast")
def run_fast():
    return "fast"


class Job:
    def kind(self):
        return type(self).__name__

    def other(self, other: "Job") -> "Job":
        return other


class Circle:
    pass


class Printer:
    def show(self, shape):
        return getattr(self, "show_" + type(shape).__name__)(shape)

    def show_Circle(self, shape):
        return "circle"


KINDS = {kind.__name__: kind for kind in (Circle, Printer)}
