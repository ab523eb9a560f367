from ..b import *
from ..b import REPEAT_A as REPEAT
from ..new import *
from ..new import LARGEST as LIMIT
