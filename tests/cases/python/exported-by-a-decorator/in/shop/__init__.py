from .listed import *
from .other import *
