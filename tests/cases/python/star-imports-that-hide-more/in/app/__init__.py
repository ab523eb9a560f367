from .base import *
from ._a import *

from ._c import *
