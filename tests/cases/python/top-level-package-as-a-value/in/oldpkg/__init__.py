from .a import f
__version__ = "1"
