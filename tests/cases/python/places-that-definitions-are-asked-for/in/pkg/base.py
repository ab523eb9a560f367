import inspect
import pkgutil
import sys
from pathlib import Path

import helpers_of_others


class Kernel:
    def source(self):
        return Path(inspect.getfile(type(self))).with_name("add.cu").read_text()


class Packed:
    def data(self):
        return pkgutil.get_data(type(self).__module__, "add.cu")


class Loaded:
    def path(self):
        return Path(sys.modules[type(self).__module__].__file__).parent / "add.cu"


def stem(function):
    return Path(function.__code__.co_filename).stem


def home(function):
    return function.__globals__["__name__"]


class Meta(type):
    def __new__(mcls, name, bases, namespace):
        made = super().__new__(mcls, name, bases, namespace)
        made.home = namespace["__module__"]
        return made


def of_others():
    return inspect.getfile(helpers_of_others), inspect.getfile(Kernel)


def set_home(namespace):
    namespace["__module__"] = "pkg"
