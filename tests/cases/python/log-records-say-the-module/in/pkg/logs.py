import logging

MUTED = ("old", "quiet")


class Muted(logging.Filter):
    def filter(self, record):
        return record.module not in MUTED


def start():
    logging.basicConfig(format="%(module)s: %(message)s")
