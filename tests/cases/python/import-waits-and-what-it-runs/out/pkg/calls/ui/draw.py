from pkg.calls.config import level

COLOUR = level()
