import logging

log = logging.getLogger(__name__)


def tell(text):
    log.warning(text)
