from pkg.state.config import LEVEL

COLOUR = "red" if LEVEL else "blue"
