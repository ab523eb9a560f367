import logging, sys
class Only(logging.Filter):
    def filter(self, record):
        return record.name.startswith("filters_loggers.") and record.name != "filters_loggers.third"
handler = logging.StreamHandler(sys.stdout)
handler.addFilter(Only())
handler.addFilter(logging.Filter("filters_loggers"))
logging.getLogger("filters_loggers").addHandler(handler)
