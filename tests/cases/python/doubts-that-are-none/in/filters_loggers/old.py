import logging
log = logging.getLogger(__name__)
def work():
    log.warning("worked")
def other():
    log.warning("other")
