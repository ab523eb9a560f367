import logging

log = logging.getLogger(__name__)


def spoken():
    log.info("loading")
