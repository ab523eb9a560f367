import logging

logger = logging.getLogger(__name__)


def count():
    logger.warning("counted")
    return 1


def other():
    logger.info("other")
