import logging


class Only(logging.Filter):
    def filter(self, record):
        return record.name.endswith("filtered")
