import logging

log = logging.getLogger(__name__)


def asked():
    log.info("loading")
