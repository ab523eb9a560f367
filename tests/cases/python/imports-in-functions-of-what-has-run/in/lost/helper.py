import lost.points

ZERO = 0
