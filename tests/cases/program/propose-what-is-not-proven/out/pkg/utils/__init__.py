"""Utilities of the backend in use."""

import importlib
import sys

from ..backend import backend_name


def load_backend(name):
    module = importlib.import_module(".%s" % name, __name__)
    for key, value in module.__dict__.items():
        setattr(sys.modules[__name__], key, value)


load_backend(backend_name)
