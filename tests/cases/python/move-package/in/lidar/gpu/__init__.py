from .pool import Pool
from .. import shared
