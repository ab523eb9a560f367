import logging

log = logging.getLogger(__name__)


def warn(text):
    log.warning(text)
