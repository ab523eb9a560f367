from ..a import *
from ..old import *
