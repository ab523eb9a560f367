import logging

log = logging.getLogger(__name__)


def old():
    log.info("loading")
