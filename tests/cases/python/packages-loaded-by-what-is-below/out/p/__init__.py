from .sub import *
