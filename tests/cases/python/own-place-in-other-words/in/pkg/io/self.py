import sys

OWN = sys.modules[__name__]
