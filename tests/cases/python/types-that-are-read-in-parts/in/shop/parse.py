import inspect
from dataclasses import fields


def parse(cls, data):
    return cls(**{field.name: field.type(data[field.name]) for field in fields(cls)})


def call(function, arguments):
    parameters = inspect.signature(function).parameters.values()
    return function(*[p.annotation(a) for p, a in zip(parameters, arguments)])
