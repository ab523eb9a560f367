try:
    from schema import *
    from error import *
except ImportError:
    from .schema import *
    from .error import *
