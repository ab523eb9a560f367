import logging

log = logging.getLogger(__name__)


def run_all():
    log.info("running")
