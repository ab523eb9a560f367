from .policy import policy
from . import policy as rule
