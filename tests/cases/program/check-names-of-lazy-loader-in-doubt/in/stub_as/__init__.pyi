from .core import A as A
from .core import B as B2
