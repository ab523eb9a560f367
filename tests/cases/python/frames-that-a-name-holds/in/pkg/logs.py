import inspect
import logging


def get_logger(name):
    if name == "__main__":
        caller = inspect.stack()[1]
        module = inspect.getmodule(caller[0])
        name = getattr(module, "__spec__").name
    return logging.getLogger(name)
