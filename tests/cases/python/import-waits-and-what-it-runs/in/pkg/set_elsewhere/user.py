from pkg.set_elsewhere import config


def choose(colour):
    config.COLOUR = colour
