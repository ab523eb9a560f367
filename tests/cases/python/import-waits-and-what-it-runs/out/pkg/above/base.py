import logging


class Base(logging.Filter):
    pass
