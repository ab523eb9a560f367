from p.core import double, size
from p.kernels import sizes, triple

assert double(2) == 4 and triple(2) == 6 and sizes([[1]]) == [1] and size("ab") == 2
