import logging

logging.basicConfig(format="%(name)s %(funcName)s: %(message)s")
