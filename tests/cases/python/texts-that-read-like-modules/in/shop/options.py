_OPTIONS = {}


def get_option(key):
    return _OPTIONS[key]
