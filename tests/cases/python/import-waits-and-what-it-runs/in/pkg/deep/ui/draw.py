from pkg.deep.lower import SHADE

COLOUR = "red"
