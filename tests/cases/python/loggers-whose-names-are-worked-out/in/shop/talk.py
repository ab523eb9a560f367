import logging

from shop import plain

log = logging.getLogger(__name__)


def show(path, stem):
    """Like shop.plain."""
    log.info("see shop.plain")
    log.info(f"{stem}.suffixed")
    print(plain.__doc__)
    logging.getLogger("other").getChild("plain")
