import logging

log = logging.getLogger(__name__)


def load():
    log.info("loading")
