try:
    from error import *
    from schema import *
except ImportError:
    from .error import *
    from .schema import *
    from .humanize import Part
