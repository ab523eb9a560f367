try:
    import yaml
except ImportError:
    yaml = None


def get_yaml():
    return yaml
