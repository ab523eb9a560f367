from pkg.set_elsewhere import config

COLOUR = config.COLOUR
