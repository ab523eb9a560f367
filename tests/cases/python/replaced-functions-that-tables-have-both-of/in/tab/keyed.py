from tab.a import half, norm
from tab.b import length

COST = {norm: 1, length: 2}
HALF = {half: 3}
