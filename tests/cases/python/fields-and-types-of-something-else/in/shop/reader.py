import inspect
from dataclasses import fields


def names(cls):
    return [field.name for field in fields(cls)]


def parameters(function):
    return [str(name) for name in inspect.signature(function).parameters]


def kind(arguments):
    return arguments.type
