import logging.config

CONFIG = {
    "version": 1,
    "handlers": {"h": {"class": "logging.StreamHandler", "stream": "ext://pkg.a.make"}},
    "root": {"handlers": ["h"]},
}
ADDRESS = "https://pkg.a.make/index.html"


def setup():
    logging.config.dictConfig(CONFIG)
