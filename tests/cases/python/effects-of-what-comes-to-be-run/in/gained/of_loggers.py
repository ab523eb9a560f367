import logging

logging.getLogger().setLevel(10)
