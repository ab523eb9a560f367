import logging

log = logging.getLogger(__name__)


def count():
    log.warning("counted")
    return 1


def other():
    log.info("other")
