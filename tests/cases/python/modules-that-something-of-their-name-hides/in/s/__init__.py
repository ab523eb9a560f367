from .fmt import *
