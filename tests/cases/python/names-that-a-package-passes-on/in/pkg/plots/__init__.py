from .draw import Line as Line
from .marks import *
