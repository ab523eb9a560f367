class FormatError(Exception):
    pass
