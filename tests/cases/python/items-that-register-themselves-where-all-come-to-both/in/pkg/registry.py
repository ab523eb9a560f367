COMMANDS = {}


def register(name):
    def wrap(function):
        COMMANDS[name] = function
        return function

    return wrap
