import logging

COLOUR = "red"


class Kept(logging.Handler):
    pass
