from .sub.a import g
from .plain import a
from .more.a import k
