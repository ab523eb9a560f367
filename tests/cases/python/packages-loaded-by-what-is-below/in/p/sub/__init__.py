from .geometry.flip import *
