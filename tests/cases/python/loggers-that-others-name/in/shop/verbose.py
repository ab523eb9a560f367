import logging

from shop import levels
from shop.quiet import logger

logging.getLogger("shop.gpu.deep.more")


def set_up():
    levels.logger.setLevel(logging.ERROR)
    logging.getLogger("shop.gpu").setLevel(logging.ERROR)
    logger.warning("set up")
