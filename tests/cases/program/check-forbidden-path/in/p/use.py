import importlib

from p.kernels import X
from p.gone import Y

module = importlib.import_module("p.kernels")
